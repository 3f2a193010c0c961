// The cost profile "host", fitted to samples of this machine, and the program as one thread per rank runs it:
// what the simulator needs to predict a run on the CPU.
#pragma once

#include "executor/host/bench.hpp"
#include "model/collectives/pricer.hpp"
#include "model/cost/cost_profile.hpp"

namespace wirewise {

CostProfile host_profile(const HostSamples& samples);

// The sampled time of a collective that was sampled.
CollectivePrice host_collective_price(const HostSamples& samples, Axis axis, CollectiveKind kind,
                                      Bytes bytes);

// The program as the profile prices it: a rank's one thread overlaps nothing, so all ops are on one stream,
// and the fused kernels are of the class that the fit gave a rate of its own. Ops keep their ids.
StepProgram as_run_on_host(StepProgram program);

}  // namespace wirewise
