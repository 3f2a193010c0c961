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
    BytesPerSecond nic_rate;      // line rate of a NIC, one way; 0: as the machine's NICs
    int nics_per_server = 0;      // 0: as the machine has
    std::string source;
};

// Throws InputError listing the names there are.
const Fabric& fabric_named(std::string_view name);
const std::vector<Fabric>& all_fabrics();

}  // namespace wirewise
