// Searches for the largest batch, longest sequence, fewest GPUs that still fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulator/planner/question.hpp"

namespace wirewise {

enum class SolveFor : std::uint8_t { max_micro_batch, max_sequence };

struct Solution {
    std::optional<std::int64_t> value;       // nothing: not even the smallest fits
    std::optional<PlanCandidate> candidate;  // at that value
    std::string next_limit;                  // what the next larger value runs into
};

// For one strategy: the largest value at which the plan fits at the pessimistic end of its interval. Memory
// grows with both, so a doubling and a bisection find it. Sequences are multiples of `step`.
Solution solve(const Question& question, Strategy strategy, SolveFor what, std::int64_t step);

}  // namespace wirewise
