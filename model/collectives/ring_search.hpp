// The rings (and chains) that carry most over the wires of a group, and the channels NCCL opens for them.
#pragma once

#include <vector>

#include "model/collectives/cheapest_tour.hpp"
#include "model/collectives/group_wires.hpp"

namespace wirewise {

// One ring or chain, and its part of the traffic.
struct Ring {
    std::vector<int> order;  // ranks
    double share = 1;
    std::vector<int> ways;  // of the hop that leaves each of them; empty: the first way
};

struct RingPlan {
    std::vector<Ring> rings, chains;
    int channels = 0;
    double speed = 0;                  // bytes per second and channel, a step of NCCL's ladder
    HopType farthest = HopType::none;  // the path types the rings may use
};

// Rings share the wires so that together they carry the most, which no wider link can lower: proven up to ten
// ranks, beyond as far as the search for rings goes (see cheapest_tour.hpp).
RingPlan search_rings(const GroupWires& wires, double compute_capability);

// NCCL's ladder within a server for a GPU generation, in bytes per second, falling.
const std::vector<double>& speed_ladder(double compute_capability);

}  // namespace wirewise
