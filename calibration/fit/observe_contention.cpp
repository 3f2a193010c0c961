#include <fmt/format.h>

#include "calibration/fit/observe.hpp"
#include "model/cost/contention.hpp"
#include "model/cost/kernel_time.hpp"

namespace wirewise {

// Loops that never end: the collective is always there, running or waiting, and finds a product at a random
// moment of its time, half of which remains.
std::vector<Observation> observe_contention(const ContentionToObserve& pair) {
    const auto taken = [pair](const CostProfile& profile) {
        return contention_of(profile, pair.transport, pair.channels);
    };
    const auto matrix = [taken](const CostProfile& profile) { return 1 + taken(profile).slowdown; };
    const auto collective = [pair, taken](const CostProfile& profile) {
        const WireContention wire = taken(profile);
        const Seconds remains = gemm_time(pair.gemm, profile) * (1 + wire.slowdown) / 2;
        return 1 + wire.collective_slowdown + wire.start_delay * remains / pair.collective;
    };
    const std::string over = "contention over " + pair.transport;
    return {{pair.id + ", product", over + ", product", 1 + pair.matrix_slowdown, matrix, {pair.id}, ""},
            {pair.id + ", collective",
             over + ", collective",
             1 + pair.collective_slowdown,
             collective,
             {pair.id},
             ""}};
}

}  // namespace wirewise
