// One measured time and how a profile predicts it: all that fitting needs to know of a sample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/cost/cost_profile.hpp"

namespace wirewise {

struct Observation {
    std::string id;
    std::string kind;  // "gemm", "attention forward", "step, GPU-bound": errors are summed up by it
    double seconds = 0;
    std::function<double(const CostProfile&)> predict;  // seconds; may be called from several threads
    // Sets that it belongs to, each of which is left out as a whole to see what the fit is worth without it:
    // "model mistral-7b-v0.1", "sequence 4096".
    std::vector<std::string> groups;
    // Samples taken together share a state of the clock, which stretches all of them alike; empty: none.
    std::string clock_run;
};

}  // namespace wirewise
