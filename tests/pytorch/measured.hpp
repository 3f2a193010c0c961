// The measured steps of fixtures/training_steps.jsonl as models and plans.
#pragma once

#include <string>
#include <vector>

#include "model/memory/pytorch_memory.hpp"

namespace wirewise {

struct MeasuredStep {
    std::string id;
    Transformer model;
    ParallelPlan plan;
    Bytes allocated, reserved;
};
const std::vector<MeasuredStep>& measured_steps();
const MeasuredStep& measured_step(const std::string& id);

// Of the states the plan can be in, the one nearest to what was measured (DDP, ZeRO-1: StaleBucket).
MemoryPeak nearest_peak(const MeasuredStep& step);

}  // namespace wirewise
