// Which GPUs of a machine a plan should use, when only their number is asked for.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

struct ChosenGpus {
    std::vector<int> gpus;  // in rank order, all servers
    std::string why;        // "GPUs 0,1,2,3: 322 GB/s all-reduce; the worst choice would have 28 GB/s"
};

// The best `per_server` GPUs of each server for an all-reduce of a large buffer.
ChosenGpus choose_gpus(const Machine& machine, const NcclEnvironment& environment, int per_server);

// A choice of GPUs of one server, and how many choices look the same to their members.
struct RankedGpus {
    std::vector<int> gpus;
    int alike = 1;
    BytesPerSecond busbw;
    std::string bottleneck;
};

// Every choice of `count` GPUs that looks different, fastest all-reduce of `bytes` first.
std::vector<RankedGpus> rank_placements(const Machine& machine, const NcclEnvironment& environment, int count, Bytes bytes);

// How many neighbours share one copy of the parameters under HSDP by default: the GPUs of one server, on one
// server the NVLink island if it is a proper part, else half of them.
int default_shard_group(const Machine& machine, const std::vector<int>& gpus);

}  // namespace wirewise
