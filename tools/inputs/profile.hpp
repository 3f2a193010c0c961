// The cost profile of a question: the one named, else the one shipped for the GPU, else its data sheet.
#pragma once

#include <string>

#include "model/cost/cost_profile.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

CostProfile profile_of(const std::string& named, const Machine& machine);

}  // namespace wirewise
