// What makes one peak higher than another, role by role.
#pragma once

#include <string>

#include "simulator/planner/estimate.hpp"

namespace wirewise {

// "at its peak (forward, ...) activation +3.1 GB outweigh what is less there (gradient -2.0 GB)"
std::string why_more(const Estimate& more, const Estimate& less, const std::string& saved);

}  // namespace wirewise
