// What limits a step, in one sentence for people.
#pragma once

#include <string>

#include "simulator/planner/estimate.hpp"

namespace wirewise {

// "compute: matrix products 52 %, ...", "all_gather on NVLink GPU0-GPU1: 64 calls, ...", "host: ...".
std::string bottleneck_of(const Estimate& estimate);

}  // namespace wirewise
