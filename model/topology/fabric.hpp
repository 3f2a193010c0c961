// The network between servers: rows of topologies/fabrics.json, each with its source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/quantity.hpp"

namespace wirewise {

// rail_optimised: NIC i of every server hangs from leaf switch i; traffic between rails crosses the spine.
// fat_tree: all NICs of a server hang from one leaf.
enum class FabricKind : std::uint8_t { rail_optimised, fat_tree };

struct Fabric {
    std::string name;  // empty: none
    FabricKind kind = FabricKind::rail_optimised;
    double oversubscription = 1;  // leaf downlinks over uplinks; 1: non-blocking
    double efficiency = 1;        // payload share of the line rate
    Seconds latency;              // of one network hop, beside NCCL's own
    int servers_per_leaf = 32;    // servers below one leaf: a group inside one leaf never crosses an uplink
    bool sockets = false;         // no RDMA: NCCL speaks TCP
    bool ll128 = true;            // keeps 128-byte stores whole, which NCCL's LL128 needs
    // For machines that do not say their NICs; 0: they must.
    double nics_per_gpu = 0;
    BytesPerSecond nic_rate;  // line rate of such a NIC, one way
    std::string source;
};

// Throws InputError listing the names there are.
const Fabric& fabric_named(std::string_view name);
const std::vector<Fabric>& all_fabrics();

}  // namespace wirewise
