#include "executor/host/host_executor.hpp"

#include <chrono>
#include <cmath>

#include "executor/training/holdings.hpp"
#include "executor/host/rank_set.hpp"
#include "executor/training/convert.hpp"
#include "model/strategy/native/buffer_names.hpp"

namespace wirewise {

namespace {

class HostExecutor final : public Executor {
  public:
    template <class... Own>  // ProcessRank, or nothing: all ranks
    HostExecutor(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                 BeforeOp before_op, const Own&... own)
        : ranks_(model, plan, numbers, own...),
          groups_(groups_of(own...)),
          layout_(model, plan.mesh.shard),
          tensors_(unit_tensors(model, layout_)),
          holdings_(ranks_.program(), layout_, ranks_.plan()),
          before_op_(std::move(before_op)),
          run_rank_([this](int rank) { ranks_.at(rank).run(step_, before_op_); }) {}

    const std::vector<UnitTensor>& tensors() const override { return tensors_; }
    bool leads() const override { return ranks_.first() == 0; }

    void load(const WeightSource& source) override {
        for (int rank = ranks_.first(); ranks_.holds(rank); ++rank)
            for (const UnitTensor& tensor : tensors_)
                for (const std::string_view buffer : {native_buffer::parameters, native_buffer::master})
                    if (const auto held = holdings_.find(buffer, tensor.unit, shard_of(rank)))
                        load(source, tensor, *held, rank);
    }

    StepResult step(std::span<const std::int32_t> tokens) override {
        const ParallelPlan& plan = ranks_.plan();
        const auto each =
            static_cast<std::size_t>(plan.tokens_per_micro_batch() * plan.gradient_accumulation);
        ensure(tokens.size() == each * static_cast<std::size_t>(ranks_.world()),
               "a step's batch is what the plan says");
        for (int rank = ranks_.first(); ranks_.holds(rank); ++rank)
            ranks_.at(rank).feed(tokens.subspan(static_cast<std::size_t>(rank) * each, each));
        ++step_;
        const auto start = std::chrono::steady_clock::now();
        ranks_.run(run_rank_);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return {scalar(native_buffer::loss), std::sqrt(scalar(native_buffer::squared_norm)),
                Seconds(elapsed.count())};
    }

    // The first replica speaks for all.
    void read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const override {
        ensure(static_cast<std::int64_t>(values.size()) == tensor.slice.count, "a whole tensor is read");
        for (int rank = 0; rank < ranks_.plan().mesh.shard; ++rank) {
            const Holding held = kind == TensorKind::gradient
                                     ? holdings_.gradient(tensor.unit, rank)
                                     : *holdings_.find(native_buffer::parameters, tensor.unit, rank);
            const Overlap part = overlap_of(held, tensor.slice);
            const auto there =
                values.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count));
            if (ranks_.holds(rank)) widen(address(held, part, rank), held.dtype, there);
            if (groups_ && rank > 0) pass_to_leader(rank, there);
        }
    }

    const StepProgram& program() const override { return ranks_.program(); }
    const Timeline& timeline(int rank) const override { return ranks_.at(rank).timeline(); }
    std::string position() const override { return ranks_.at(ranks_.first()).position(); }
    ExecutorMemory memory() const override {
        const Rank& own = ranks_.at(ranks_.first());
        const Bytes allocated = own.memory().allocated();
        return {ranks_.memory().bytes, allocated, allocated + own.scratch_bytes()};
    }

  private:
    static RankGroups* groups_of() { return nullptr; }
    static RankGroups* groups_of(const ProcessRank& own) { return &own.groups; }

    int shard_of(int rank) const { return rank % ranks_.plan().mesh.shard; }

    // The first replica is the first shard group, in which ranks are members.
    void pass_to_leader(int from, std::span<float> values) const {
        RankGroup& replica = groups_->along(Axis::shard);
        if (values.empty()) return;
        if (ranks_.holds(from)) replica.send(0, std::as_bytes(values));
        if (leads()) replica.receive(from, std::as_writable_bytes(values));
    }

    std::byte* address(const Holding& held, const Overlap& part, int rank) const {
        return ranks_.at(rank).memory().at(held.buffer) + part.at * size_of(held.dtype);
    }

    void load(const WeightSource& source, const UnitTensor& tensor, const Holding& held, int rank) {
        const Overlap part = overlap_of(held, tensor.slice);
        std::vector<float> values(static_cast<std::size_t>(part.count));
        if (values.empty()) return;
        source.read(tensor, part.first, values);
        narrow(values, held.dtype, address(held, part, rank));
    }

    // Reduced over all ranks.
    double scalar(std::string_view buffer) const {
        float value = 0;
        const Holding held = *holdings_.find(buffer, Unit{}, 0);
        widen(ranks_.at(ranks_.first()).memory().at(held.buffer), DType::fp32, std::span(&value, 1));
        return static_cast<double>(value);
    }

    RankSet ranks_;
    RankGroups* const groups_;  // of the one rank here; null where all are here
    const ModelLayout layout_;
    const std::vector<UnitTensor> tensors_;
    const Holdings holdings_;
    const BeforeOp before_op_;
    std::int64_t step_ = 0;
    const std::function<void(int)> run_rank_;
};

}  // namespace

std::unique_ptr<Executor> make_host_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, BeforeOp before_op) {
    return std::make_unique<HostExecutor>(model, plan, numbers, std::move(before_op));
}

std::unique_ptr<Executor> make_host_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, const ProcessRank& own,
                                             BeforeOp before_op) {
    return std::make_unique<HostExecutor>(model, plan, numbers, std::move(before_op), own);
}

Bytes host_scratch(const StepProgram& program) { return bytes_of(scratch_floats(program), DType::fp32); }

}  // namespace wirewise
