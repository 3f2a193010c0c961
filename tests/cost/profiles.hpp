#pragma once

#include "model/cost/cost_profile.hpp"

namespace wirewise {

inline std::string profile_folder() { return WIREWISE_SOURCE_FOLDER "/calibration/profiles"; }
inline CostProfile h200() { return load_profile(profile_folder() + "/h200-sxm.json"); }

}  // namespace wirewise
