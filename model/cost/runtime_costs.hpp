#pragma once

#include <map>
#include <string>

#include "model/cost/cost_profile.hpp"

namespace wirewise {

// Host and process costs that belong to the runtime, not to the GPU; profiles may hold their own.
std::map<std::string, RuntimeCosts> default_runtimes();

}  // namespace wirewise
