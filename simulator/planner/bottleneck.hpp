// What limits a step, in one sentence for people.
#pragma once

#include <string>

#include "simulator/planner/estimate.hpp"

namespace wirewise {

// "all_gather over NVLink GPU0-GPU1: 61 % of the step is exposed communication", "compute: matrix products 52
// %, ...", "host: ...".
std::string bottleneck_of(const Estimate& estimate);

}  // namespace wirewise
