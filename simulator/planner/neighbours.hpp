// Plans next to a candidate that should need more memory than it does, and need less: half as many GPUs,
// twice the micro-batch.
#pragma once

#include <string>
#include <vector>

#include "simulator/planner/question.hpp"

namespace wirewise {

// Each a sentence with its reason. Of runtimes with a caching allocator or a race; our own has neither.
std::vector<std::string> odd_against_neighbours(const Question& question, const PlanCandidate& candidate);

}  // namespace wirewise
