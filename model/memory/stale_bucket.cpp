#include "model/memory/stale_bucket.hpp"

namespace wirewise {

StaleBucket likely_stale_bucket(Bytes new_optimizer_state, Seconds parameter_broadcasts) {
    constexpr Seconds kWatchdogPeriod(0.1);
    constexpr double kSecondsPerByte = 3.6e-3 / 1e9;
    const Seconds given =
        parameter_broadcasts + Seconds(kSecondsPerByte * static_cast<double>(new_optimizer_state.count()));
    return given < kWatchdogPeriod ? StaleBucket::freed_in_backward : StaleBucket::freed_at_buffer_broadcast;
}

}  // namespace wirewise
