#include "model/cost/contention.hpp"

#include <algorithm>

namespace wirewise {

WireContention contention_of(const CostProfile& profile, std::string_view transport, int channels) {
    const ContentionCosts& costs = profile.contention;
    if (const auto known = costs.wires.find(transport); known != costs.wires.end()) return known->second;
    const int held = std::clamp(channels, 0, profile.multiprocessors - 1);
    return {static_cast<double>(held) / (profile.multiprocessors - held), costs.start_delay, 0};
}

}  // namespace wirewise
