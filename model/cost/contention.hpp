#pragma once

#include <string_view>

#include "model/cost/cost_profile.hpp"

namespace wirewise {

// As measured of the transport; else a collective holds an SM per channel.
WireContention contention_of(const CostProfile& profile, std::string_view transport, int channels);

}  // namespace wirewise
