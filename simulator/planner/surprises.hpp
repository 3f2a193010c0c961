// What goes against the usual rule, with its reason: a strategy that shards more and needs more memory, GPUs that make
// training slower.
#pragma once

#include <string>
#include <vector>

#include "simulator/planner/question.hpp"

namespace wirewise {

std::vector<std::string> surprises_of(const Answer& answer);

}  // namespace wirewise
