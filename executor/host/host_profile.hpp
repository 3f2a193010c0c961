// The cost profile "host", fitted to samples of this machine, and the program as one thread per rank runs it:
// what the simulator needs to predict a run on the CPU.
#pragma once

#include "executor/host/bench.hpp"
#include "model/collectives/pricer.hpp"
#include "model/cost/cost_profile.hpp"

namespace wirewise {

// `program` says how many ranks each axis has.
CostProfile host_profile(const HostSamples& samples, const StepProgram& program);

// What a collective of that many ranks takes by the profile; where it knows none of that kind and size of
// group, by its copy rate.
CollectivePrice host_collective_price(const CostProfile& profile, int ranks, CollectiveKind kind,
                                      Bytes bytes);

// The program as the profile prices it: a rank's one thread overlaps nothing, so all ops are on one stream,
// and the fused kernels are of the class that the fit gave a rate of its own. Ops keep their ids.
StepProgram as_run_on_host(StepProgram program);

}  // namespace wirewise
