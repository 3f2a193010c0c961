#include "executor/host/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "executor/training/run_error.hpp"

namespace wirewise {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int32_t kNoTarget = -1;

Instant since(Clock::time_point start) {
    return Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count() * 1000);
}

}  // namespace

Rank::Rank(const StepProgram& program, const Transformer& model, const ParallelPlan& plan,
           const Hyperparameters& numbers, const host::RopeTable& rope, const MemoryPlan& memory,
           RankGroups& groups, int rank)
    : program_(program),
      rank_(rank),
      sequence_(plan.sequence_length),
      memory_(memory, memory.offsets.size() - 1),
      scratch_(static_cast<std::size_t>(scratch_floats(program))) {
    const auto tokens = static_cast<std::size_t>(plan.tokens_per_micro_batch() * plan.gradient_accumulation);
    feed_ = {std::vector<std::int32_t>(tokens), std::vector<std::int32_t>(tokens)};
    ops_ = bind({program, model, plan, numbers, rope, memory_, groups, feed_, step_, scratch_.data()});
    timeline_.spans.reserve(ops_.size());
}

void Rank::feed(std::span<const std::int32_t> tokens) {
    std::copy(tokens.begin(), tokens.end(), feed_.tokens.begin());
    const auto sequence = static_cast<std::size_t>(sequence_);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        feed_.targets[i] = (i + 1) % sequence == 0 ? kNoTarget : tokens[i + 1];
}

void Rank::run(std::int64_t step, const BeforeOp& before_op) {
    step_ = step;
    step_at_.store(step, std::memory_order_relaxed);
    timeline_.spans.clear();
    const Clock::time_point start = Clock::now();
    for (const BoundOp& bound : ops_) {
        op_at_.store(index_of(bound.op), std::memory_order_relaxed);
        const Op& op = program_.ops[index_of(bound.op)];
        try {
            if (before_op) before_op(rank_, op);
            if (!bound.work) continue;
            const Instant begin = since(start);
            bound.work();
            timeline_.spans.push_back({bound.op, op.stream, begin, since(start)});
        } catch (const RunError&) {
            throw;
        } catch (const std::exception& error) {
            throw RunError(rank_, position() + ": " + error.what());
        }
    }
    timeline_.host_end = timeline_.end = since(start);
}

std::string Rank::position() const {
    const std::int64_t step = step_at_.load(std::memory_order_relaxed);
    if (step == 0) return {};
    const Op& op = program_.ops[op_at_.load(std::memory_order_relaxed)];
    return fmt::format("step {}, {} ({})", step, place_of(op), what_of(program_, op));
}

}  // namespace wirewise
