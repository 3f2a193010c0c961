// Everything the formulas of the algorithms need to know about one group on one server, found once.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/cut_bound.hpp"
#include "model/collectives/nccl_environment.hpp"
#include "model/collectives/servers.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

enum class Transport : std::uint8_t;

// A rate in bus bytes per second, and the link that sets it, for people.
struct Limit {
    double rate = 0;
    std::string link;
    bool soft = false;  // wiring only bounds it: host-memory staging, sockets, links between NUMA nodes
};

struct GroupRates {
    int ranks = 1, servers = 1, local_ranks = 1;
    Limit switch_port;  // a GPU's link into an NVSwitch that joins all local ranks; rate 0: none
    Limit ring, chain, shift, exchange;  // within the server; rate 0 where it stands alone in it
    double last_receive = 0;             // seconds per byte, see last_receive_cost()
    Limit network;                       // out of and into one server; rate 0 for one server
    double network_latency = 0;          // of one hop, seconds, beside NCCL's
    bool network_ll128 = true;           // the fabric keeps 128-byte stores whole
    double spine_share = 1;              // of traffic to far servers that the leaf uplinks let pass
    int channels = 0;
    double compute_capability = 0;
    Transport transport{};
    std::string gpu;   // the kind of all of them; empty: mixed or not known
    std::string path;  // "NV18" where all pairs have it, else empty
    std::string_view transport_name;
    bool over_nvlink = false;  // hop latencies of NVLink; else of PCIe
    bool amd_host = false;
    std::vector<Cut> cuts;
};

std::vector<GroupRates> rates_of_groups(const Machine& machine, const NcclEnvironment& environment,
                                        const ServerView& view);

}  // namespace wirewise
