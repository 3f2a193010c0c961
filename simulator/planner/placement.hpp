// Which GPUs of a machine a plan should use, when only their number is asked for.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

struct ChosenGpus {
    std::vector<int> gpus;  // in rank order, all servers
    std::string why;        // "GPUs 0,1,2,3: all-reduce at 322 GB/s; the worst choice has 28 GB/s"
};

// The best `per_server` GPUs of each server for an all-reduce of a large buffer.
ChosenGpus choose_gpus(const Machine& machine, const NcclEnvironment& environment, int per_server);

// How many neighbours share one copy of the parameters under HSDP by default: the GPUs of one server, on one
// server the NVLink island if it is a proper part, else half of them.
int default_shard_group(const Machine& machine, const std::vector<int>& gpus);

}  // namespace wirewise
