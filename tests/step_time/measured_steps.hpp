// The measured training steps of ../shared/measured, as plans.
#pragma once

#include <string>
#include <vector>

#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

struct MeasuredStep {
    std::string id, wire, model_file;
    std::vector<std::string> overrides;
    ParallelPlan plan;
    double seconds = 0;
};

// Rows without a step time (out of memory) and compiled ones are left out.
std::vector<MeasuredStep> measured_steps(const std::string& file);

}  // namespace wirewise
