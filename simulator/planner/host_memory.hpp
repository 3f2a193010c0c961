// Memory of the host that a plan needs: on the server that needs most, all its ranks together.
#pragma once

#include <string>
#include <vector>

#include "simulator/planner/walk_phases.hpp"

namespace wirewise {

struct HostMemory {
    Bytes peak;
    Bytes limit;  // the server's; zero: the machine does not say
    Phase phase{};
    std::string why;  // "8 ranks x 13.5 GB"
};

// `ranks`: of the job on one server. Every rank loads a checkpoint and holds what is offloaded; a state dict
// for saving is assembled by one rank of the job. Page cache and the processes themselves are not counted.
HostMemory host_memory_of(const std::vector<PhasePeak>& phases, int ranks, Bytes limit);

}  // namespace wirewise
