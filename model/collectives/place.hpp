// Which GPUs of a server to take, and in which order, for a job of a given size; of every server the same.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/pricer.hpp"

namespace wirewise {

// The best placement is the one where this collective is fastest. `group`: consecutive ranks form groups of
// so many, all running at once (shard groups of HSDP); 0: all ranks, of all servers, are one group.
struct PlacementObjective {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Bytes bytes{std::int64_t{1} << 30};
    int group = 0;
};

struct Placement {
    std::vector<int> order;  // GPU of rank 0, 1, ...
    Seconds seconds;
    BytesPerSecond busbw;
    std::string bottleneck;
    bool naive = false;      // the first GPUs in the driver's order: what a job gets that asks for nothing
    std::int64_t alike = 1;  // subsets of the server that are wired the same way; this is the first of them

    std::vector<int> gpus() const;  // in rising order
};

// That order on every server of the machine, one server after the other: the GPUs of a job's ranks.
std::vector<int> on_all_servers(const Machine& machine, const std::vector<int>& order);

// All placements that differ in wiring, best first; the naive one is among them. Of an irregular mesh with
// more than 256 of them, only the most promising (64 beyond eight GPUs).
// Prices them on all cores. Throws InputError where the server has fewer GPUs.
std::vector<Placement> place(const Machine& machine, const NcclEnvironment& environment, int count,
                             const PlacementObjective& objective = {});

// "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2,3,0,1".
std::string visible_devices(const Placement& placement);

}  // namespace wirewise
