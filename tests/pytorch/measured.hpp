// The measured steps of fixtures/training_steps.jsonl as models and plans.
#pragma once

#include <string>
#include <vector>

#include "model/program/walk.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

struct MeasuredStep {
    std::string id;
    Transformer model;
    ParallelPlan plan;
    Bytes allocated, reserved;
};
const std::vector<MeasuredStep>& measured_steps();
const MeasuredStep& measured_step(const std::string& id);

// Load, first, second and steady step, walked with the caching allocator.
MemoryPeak predicted_peak(const Transformer& model, const ParallelPlan& plan);
// Of the states the plan can be in, the one nearest to what was measured (DDP, ZeRO-1: StaleBucket).
MemoryPeak nearest_peak(const MeasuredStep& step);

}  // namespace wirewise
