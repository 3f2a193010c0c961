#include "executor/host/host_executor.hpp"

#include <chrono>
#include <cmath>

#include "executor/host/holdings.hpp"
#include "executor/host/kernels/gemm.hpp"
#include "executor/host/rank.hpp"
#include "executor/host/rank_team.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/rope_frequencies.hpp"
#include "executor/training/supported.hpp"
#include "model/program/verify.hpp"
#include "model/strategy/lower.hpp"
#include "model/strategy/native/buffer_names.hpp"

namespace wirewise {

namespace {

host::RopeTable rope_of(const Transformer& model, const ParallelPlan& plan) {
    return host::rope_table(rope_frequencies(model, model.layer(0).attention.rotary_dim),
                            plan.sequence_length);
}

const Transformer& checked(const Transformer& model, const ParallelPlan& plan) {
    ensure_computed(model, plan);
    return model;
}

// One thread per rank that runs ops in issue order is only right for a program without faults.
StepProgram verified(StepProgram program) {
    const std::vector<Fault> faults = verify(program);
    ensure(faults.empty(), faults.empty() ? "" : faults.front().text);
    return program;
}

MemoryPlan planned(const StepProgram& load, const StepProgram& step) {
    const StepProgram* const programs[] = {&load, &step};
    return plan_memory(programs);
}

class HostExecutor final : public Executor {
  public:
    HostExecutor(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                 BeforeOp before_op)
        : model_(checked(model, plan)),
          plan_(plan),
          numbers_(numbers),
          program_(verified(lower(model_, plan_, Phase::steady_step))),
          memory_(planned(lower(model_, plan_, Phase::load), program_)),
          layout_(model_, plan_.mesh.shard),
          tensors_(unit_tensors(model_, layout_)),
          holdings_(program_, layout_, plan_),
          rope_(rope_of(model_, plan_)),
          communicators_(plan_.mesh.replicate, plan_.mesh.shard),
          ranks_(static_cast<std::size_t>(plan_.mesh.world())),
          before_op_(std::move(before_op)),
          run_rank_([this](int rank) { rank_at(rank).run(step_, before_op_); }),
          team_(plan_.mesh.world(), [this] { communicators_.close(); }) {
        host::fix_gemm_blocking();
        // Each rank's memory is first touched by the thread that will use it.
        team_.run([this](int rank) {
            ranks_[static_cast<std::size_t>(rank)] = std::make_unique<Rank>(
                program_, model_, plan_, numbers_, rope_, memory_, communicators_, rank);
        });
    }

    const std::vector<UnitTensor>& tensors() const override { return tensors_; }

    void load(const WeightSource& source) override {
        for (int rank = 0; rank < plan_.mesh.world(); ++rank)
            for (const UnitTensor& tensor : tensors_)
                for (const std::string_view buffer : {native_buffer::parameters, native_buffer::master})
                    if (const auto held = holdings_.find(buffer, tensor.unit, shard_of(rank)))
                        load(source, tensor, *held, rank);
    }

    StepResult step(std::span<const std::int32_t> tokens) override {
        const auto each =
            static_cast<std::size_t>(plan_.tokens_per_micro_batch() * plan_.gradient_accumulation);
        ensure(tokens.size() == each * ranks_.size(), "a step's batch is what the plan says");
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            ranks_[rank]->feed(tokens.subspan(rank * each, each));
        ++step_;
        const auto start = std::chrono::steady_clock::now();
        team_.run(run_rank_);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return {scalar(native_buffer::loss), std::sqrt(scalar(native_buffer::squared_norm)),
                Seconds(elapsed.count())};
    }

    // The first replica speaks for all.
    void read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const override {
        ensure(static_cast<std::int64_t>(values.size()) == tensor.slice.count, "a whole tensor is read");
        for (int rank = 0; rank < plan_.mesh.shard; ++rank) {
            const Holding held = kind == TensorKind::gradient
                                     ? holdings_.gradient(tensor.unit, rank)
                                     : *holdings_.find(native_buffer::parameters, tensor.unit, rank);
            const Overlap part = overlap_of(held, tensor.slice);
            widen(address(held, part, rank), held.dtype,
                  values.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count)));
        }
    }

    const StepProgram& program() const override { return program_; }
    const Timeline& timeline(int rank) const override { return rank_at(rank).timeline(); }
    ExecutorMemory memory() const override {
        const Bytes allocated = rank_at(0).memory().allocated();
        return {memory_.bytes, allocated, allocated + rank_at(0).scratch_bytes()};
    }

  private:
    const Rank& rank_at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }
    Rank& rank_at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
    int shard_of(int rank) const { return communicators_.member(Axis::shard, rank); }

    std::byte* address(const Holding& held, const Overlap& part, int rank) const {
        return rank_at(rank).memory().at(held.buffer) + part.at * size_of(held.dtype);
    }

    void load(const WeightSource& source, const UnitTensor& tensor, const Holding& held, int rank) {
        const Overlap part = overlap_of(held, tensor.slice);
        std::vector<float> values(static_cast<std::size_t>(part.count));
        if (values.empty()) return;
        source.read(tensor, part.first, values);
        narrow(values, held.dtype, address(held, part, rank));
    }

    double scalar(std::string_view buffer) const {
        float value = 0;
        const Holding held = *holdings_.find(buffer, Unit{}, 0);
        widen(rank_at(0).memory().at(held.buffer), DType::fp32, std::span(&value, 1));
        return static_cast<double>(value);
    }

    const Transformer& model_;
    const ParallelPlan plan_;
    const Hyperparameters numbers_;
    const StepProgram program_;
    const MemoryPlan memory_;
    const ModelLayout layout_;
    const std::vector<UnitTensor> tensors_;
    const Holdings holdings_;
    const host::RopeTable rope_;
    Communicators communicators_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::int64_t step_ = 0;
    const BeforeOp before_op_;
    const std::function<void(int)> run_rank_;
    RankTeam team_;  // last: its threads end before what they use
};

}  // namespace

std::unique_ptr<Executor> make_host_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, BeforeOp before_op) {
    return std::make_unique<HostExecutor>(model, plan, numbers, std::move(before_op));
}

}  // namespace wirewise
