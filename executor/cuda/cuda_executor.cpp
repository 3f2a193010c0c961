#include "executor/cuda/cuda_executor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "executor/cuda/device.hpp"
#include "executor/cuda/kernels/elementwise.hpp"
#include "executor/cuda/rank.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/holdings.hpp"
#include "executor/training/run_error.hpp"
#include "executor/training/supported.hpp"
#include "model/program/verify.hpp"
#include "model/strategy/lower.hpp"
#include "model/strategy/native/buffer_names.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise::cuda {

namespace {

StepProgram verified(StepProgram program) {
    const std::vector<Fault> faults = verify(program);
    ensure(faults.empty(), faults.empty() ? "" : faults.front().text);
    return program;
}

MemoryPlan planned(const Transformer& model, const ParallelPlan& plan, const StepProgram& step) {
    const StepProgram load = lower(model, plan, Phase::load);
    const StepProgram* const programs[] = {&load, &step};
    return plan_memory(programs);
}

std::unique_ptr<DeviceGroups> groups_of(const ParallelPlan& plan, const DeviceRank& rank) {
    if (plan.mesh.world() == 1) return make_lone_groups();
    const GroupShape shape{rank.rank, plan.mesh.replicate, plan.mesh.shard};
    if (rank.staged) return make_staged_groups(shape, *rank.staged);
    ensure(rank.rendezvous != nullptr, "ranks of other processes meet somewhere");
    return make_nccl_groups(shape, *rank.rendezvous);
}

class CudaExecutor final : public Executor {
  public:
    CudaExecutor(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                 const DeviceRank& rank)
        : model_(model),
          plan_(plan),
          numbers_(numbers),
          who_(rank),
          program_(verified(lower(model_, plan_, Phase::steady_step))),
          memory_(planned(model_, plan_, program_)),
          layout_(model_, plan_.mesh.shard),
          tensors_(unit_tensors(model_, layout_)),
          holdings_(program_, layout_, plan_),
          watch_(rank.device),
          used_before_(watch_.used()) {
        on_device([&] { start(); });
    }

    bool leads() const override { return who_.rank == 0; }
    const std::vector<UnitTensor>& tensors() const override { return tensors_; }

    void load(const WeightSource& source) override {
        on_device([&] {
            for (const UnitTensor& tensor : tensors_)
                for (const std::string_view buffer : {native_buffer::parameters, native_buffer::master})
                    if (const auto held = holdings_.find(buffer, tensor.unit, shard()))
                        load(source, tensor, *held);
            check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        });
    }

    void watch(bool every_op) override { watched_ = every_op; }

    StepResult step(std::span<const std::int32_t> tokens) override {
        const auto each =
            static_cast<std::size_t>(plan_.tokens_per_micro_batch() * plan_.gradient_accumulation);
        ensure(tokens.size() == each * static_cast<std::size_t>(plan_.mesh.world()),
               "a step's batch is what the plan says");
        return on_device([&] {
            rank_->feed(tokens.subspan(static_cast<std::size_t>(who_.rank) * each, each));
            rank_->run(++step_, watched_);
            return StepResult{scalar(native_buffer::loss), std::sqrt(scalar(native_buffer::squared_norm)),
                              to_seconds(rank_->timeline().end)};
        });
    }

    // Ranks that hold a part add it to zeros; the first replica speaks for all.
    void read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const override {
        ensure(static_cast<std::int64_t>(values.size()) == tensor.slice.count, "a whole tensor is read");
        on_device([&] {
            const Holding held = kind == TensorKind::gradient
                                     ? holdings_.gradient(tensor.unit, shard())
                                     : *holdings_.find(native_buffer::parameters, tensor.unit, shard());
            std::fill(values.begin(), values.end(), 0.0F);
            fetch(held, overlap_of(held, tensor.slice), values);
            if (held.count < layout_.of(tensor.unit).padded()) add_up(values);
        });
    }

    const StepProgram& program() const override { return program_; }
    const Timeline& timeline(int) const override { return rank_->timeline(); }
    // The host runs ahead of the device: what failed there may have been issued before.
    std::string position() const override { return rank_ ? rank_->position() : std::string(); }
    ExecutorMemory memory() const override {
        return on_device([&] {
            return ExecutorMemory{memory_.bytes, rank_->allocated(), watch_.used() - used_before_};
        });
    }

  private:
    // Runs with this rank's device current; what a call reports is this rank's failure, and frees its peers.
    template <class Job>
    auto on_device(Job&& job) const -> decltype(job()) {
        try {
            check(cudaSetDevice(who_.device), "cudaSetDevice");
            return job();
        } catch (const CallFailed& failure) {
            if (rank_) rank_->groups().abort();
            throw RunError(who_.rank, place_of(failure));
        } catch (const RunError&) {  // another rank's
            if (rank_) rank_->groups().abort();
            throw;
        }
    }

    std::string place_of(const CallFailed& failure) const {
        const std::string at = position();
        return at.empty() ? failure.what() : fmt::format("{}, at {}", failure.what(), at);
    }

    void start() {
        require_room();
        rank_ = std::make_unique<Rank>(program_, model_, plan_, numbers_, memory_, groups_of(plan_, who_));
        if (who_.tune) rank_->tune();
    }

    void require_room() const {
        if (memory_.bytes <= watch_.free()) return;
        const std::string holders = watch_.holders();
        throw RunError(who_.rank, fmt::format("the plan needs {}, GPU {} has {} free{}{}",
                                              to_text(memory_.bytes), who_.device, to_text(watch_.free()),
                                              holders.empty() ? "" : ": ", holders));
    }

    int shard() const { return who_.rank % plan_.mesh.shard; }
    std::byte* address(const Holding& held, const Overlap& part) const {
        return rank_->memory().at(held.buffer) + part.at * size_of(held.dtype);
    }

    void load(const WeightSource& source, const UnitTensor& tensor, const Holding& held) {
        const Overlap part = overlap_of(held, tensor.slice);
        if (part.count == 0) return;
        const Array to{address(held, part), held.dtype};
        if (const auto drawn = source.drawn(tensor)) {
            if (drawn->deviation > 0)
                return fill_normal(to, part.count, drawn->deviation, drawn->stream, part.first, nullptr);
            return fill_constant(to, part.count, drawn->constant, nullptr);
        }
        std::vector<float> values(static_cast<std::size_t>(part.count));
        source.read(tensor, part.first, values);
        std::vector<std::byte> narrowed(static_cast<std::size_t>(part.count * size_of(held.dtype)));
        narrow(values, held.dtype, narrowed.data());
        check(cudaMemcpy(to.data, narrowed.data(), narrowed.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }

    void fetch(const Holding& held, const Overlap& part, std::span<float> values) const {
        if (part.count == 0) return;
        std::vector<std::byte> stored(static_cast<std::size_t>(part.count * size_of(held.dtype)));
        check(cudaMemcpy(stored.data(), address(held, part), stored.size(), cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        widen(stored.data(), held.dtype,
              values.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count)));
    }

    // In pieces, so that little memory is needed beside the plan's.
    void add_up(std::span<float> values) const {
        constexpr std::size_t kPiece = 4 << 20;
        const DeviceMemory piece(std::min(values.size(), kPiece) * sizeof(float));
        const cudaStream_t stream = rank_->stream(0);
        for (std::size_t first = 0; first < values.size(); first += kPiece) {
            const std::span<float> part = values.subspan(first, std::min(kPiece, values.size() - first));
            const auto move = [&](void* to, const void* from) {
                check(cudaMemcpyAsync(to, from, part.size_bytes(), cudaMemcpyDefault, stream),
                      "cudaMemcpyAsync");
            };
            move(piece.data(), part.data());
            rank_->groups().run(Axis::shard,
                                {.kind = CollectiveKind::all_reduce,
                                 .dtype = DType::fp32,
                                 .count = static_cast<std::int64_t>(part.size()),
                                 .send = piece.data(),
                                 .receive = piece.data()},
                                stream);
            move(part.data(), piece.data());
            check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        }
    }

    double scalar(std::string_view buffer) const {
        float value = 0;
        fetch(*holdings_.find(buffer, Unit{}, 0), {.count = 1}, std::span(&value, 1));
        return static_cast<double>(value);
    }

    const Transformer& model_;
    const ParallelPlan plan_;
    const Hyperparameters numbers_;
    const DeviceRank who_;
    const StepProgram program_;
    const MemoryPlan memory_;
    const ModelLayout layout_;
    const std::vector<UnitTensor> tensors_;
    const Holdings holdings_;
    const DeviceWatch watch_;
    std::unique_ptr<Rank> rank_;
    const Bytes used_before_;  // by others: taken before this process has a context on the device
    std::int64_t step_ = 0;
    bool watched_ = false;
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, const DeviceRank& rank) {
    ensure_computed(model, plan);
    return std::make_unique<CudaExecutor>(model, plan, numbers, rank);
}

}  // namespace wirewise::cuda
