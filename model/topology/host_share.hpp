// What the host gives each GPU of a job while all of them ask for it at once: PCIe through switches that they
// share, and their part of the server's memory.
#pragma once

#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

struct HostShare {
    BytesPerSecond link;         // between one GPU and the host, one way; 0: no path known
    BytesPerSecond memory_rate;  // DRAM, reads and writes together, one rank's part
    int ranks = 1;               // of the job on one server
};

// Of the server that holds the first GPU. GPUs are numbered through all servers.
HostShare host_share(const Machine& machine, const std::vector<int>& gpus);

}  // namespace wirewise
