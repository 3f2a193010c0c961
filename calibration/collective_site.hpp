// Where a measured or published collective ran.
#pragma once

#include <vector>

#include "calibration/published_collectives.hpp"
#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

struct CollectiveSite {
    Machine machine;
    NcclEnvironment environment;
    std::vector<int> gpus;
};

// Throws InputError for a machine that is not known or lacks the GPUs.
CollectiveSite site_of(const PublishedCollective& run);

}  // namespace wirewise
