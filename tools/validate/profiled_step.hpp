// Steps profiled kernel by kernel: what a measured step was made of. A JSON array, each entry with model,
// num_hidden_layers, micro_batch, strategy, compile, step_ms and kernels[{name, count, total_us}].
#pragma once

#include <optional>
#include <string>

#include "simulator/planner/question.hpp"

namespace wirewise {

// GPU time by class of kernel, one rank.
struct ProfiledStep {
    Seconds step, gemm, attention, memory_bound, optimizer, collectives;
};

// The profile of this step in the file, if it holds one; its step time must be the measured one's.
std::optional<ProfiledStep> profiled_step(const std::string& file, const PlanCandidate& candidate,
                                          const Transformer& model, Seconds measured);

// profiled_steps*.json in this folder; empty when there is none.
std::string profile_beside(const std::string& folder);

}  // namespace wirewise
