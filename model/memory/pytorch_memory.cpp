#include "model/memory/pytorch_memory.hpp"

#include <array>

#include "model/strategy/lower.hpp"

namespace wirewise {

namespace {

constexpr std::array kPhases{Phase::load, Phase::first_step, Phase::second_step, Phase::steady_step};
constexpr std::array kStates{StaleBucket::freed_at_rebuild, StaleBucket::freed_at_buffer_broadcast,
                             StaleBucket::freed_in_backward};

bool has_buckets(Strategy strategy) { return strategy == Strategy::ddp || strategy == Strategy::zero1; }

PytorchMemory predict(const Transformer& model, const ParallelPlan& plan) {
    PytorchMemory result{plan.stale_bucket, {}, {}};
    MemoryWalk walk(make_caching_allocator());
    for (const Phase phase : kPhases) result.phases.push_back(walk.run(lower(model, plan, phase)));
    result.peak = walk.peak();
    return result;
}

}  // namespace

std::vector<PytorchMemory> predict_pytorch_memory(const Transformer& model, const ParallelPlan& plan) {
    ensure(plan.runtime == Runtime::pytorch, "a plan for PyTorch");
    if (!has_buckets(plan.strategy)) return {predict(model, plan)};
    std::vector<PytorchMemory> all;
    for (const StaleBucket state : kStates) {
        ParallelPlan variant = plan;
        variant.stale_bucket = state;
        all.push_back(predict(model, variant));
    }
    return all;
}

StaleBucket likely_stale_bucket(Bytes new_optimizer_state, Seconds parameter_broadcasts) {
    constexpr Seconds kWatchdogPeriod(0.1);
    constexpr double kSecondsPerByte = 3.6e-3 / 1e9;
    const Seconds given =
        parameter_broadcasts + Seconds(kSecondsPerByte * static_cast<double>(new_optimizer_state.count()));
    return given < kWatchdogPeriod ? StaleBucket::freed_in_backward : StaleBucket::freed_at_buffer_broadcast;
}

}  // namespace wirewise
