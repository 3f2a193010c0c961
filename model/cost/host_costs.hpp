// The part of the physics that is the machine's and not the GPU's: copies to and from the host, kernels of
// the CPU.
#pragma once

#include "model/cost/cost_profile.hpp"
#include "model/topology/host_share.hpp"

namespace wirewise {

// The profile of a GPU in this machine. Copies go at the GPU's own rate or at its share of PCIe, whichever is
// less.
CostProfile in_machine(CostProfile profile, const HostShare& share);

}  // namespace wirewise
