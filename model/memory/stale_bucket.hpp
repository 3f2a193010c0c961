// Which state PyTorch's DDP and ZeRO-1 are likely to be in at the peak of their second step: see StaleBucket.
#pragma once

#include "model/strategy/plan.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

// The watchdog needs up to 100 ms to see the first all-reduce end. The main thread gives it that time while
// the driver allocates `new_optimizer_state` (3.6 ms per GB: fitted on twelve runs on two H200, 2026-11,
// which it sorts but for one; no law) and while ZeRO-1's first `parameter_broadcasts` run.
StaleBucket likely_stale_bucket(Bytes new_optimizer_state, Seconds parameter_broadcasts);

}  // namespace wirewise
