// Time of one kernel running alone on an unthrottled GPU. What a step does to it (power, contention) is the
// simulator's.
#pragma once

#include "model/cost/cost_profile.hpp"
#include "model/program/kernel.hpp"

namespace wirewise {

Seconds kernel_time(const Kernel& kernel, const CostProfile& profile);

Seconds gemm_time(const Gemm& gemm, const CostProfile& profile);
Seconds attention_time(const Attention& attention, const CostProfile& profile);
Seconds pointwise_time(const Pointwise& kernel, const MemoryCosts& costs);
Seconds update_time(const OptimizerUpdate& update, const OptimizerCosts& costs);

// On the CPU: bound by the traffic.
Seconds host_kernel_time(const Kernel& kernel, const HostCosts& costs);

// Factor on the time of matrix kernels in a step that they fill by `share` (see PowerCosts).
double power_factor(double share, const PowerCosts& costs);

}  // namespace wirewise
