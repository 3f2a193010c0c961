// NCCL's search for rings: how many channels at which speed, in which orders, the links can carry at planning
// rates.
#pragma once

#include <vector>

#include "model/collectives/group_wires.hpp"

namespace wirewise {

struct RingPlan {
    std::vector<std::vector<int>> orders;  // ranks in ring order, one entry per channel found
    double speed = 0;                      // bytes per second and channel, a step of NCCL's ladder
    HopType farthest = HopType::none;      // worst path type used
    int channels() const { return static_cast<int>(orders.size()); }
    double rate() const { return channels() * speed; }
};

// `compute_capability` picks the ladder of speeds. At most 32 channels, as NCCL's search. The walk is greedy and
// starts at rank 0: on irregular wiring another rank order may find rings several percent slower or faster.
RingPlan search_rings(const GroupWires& wires, double compute_capability);

// NCCL's ladder within a server for a GPU generation, in bytes per second, falling.
const std::vector<double>& speed_ladder(double compute_capability);

}  // namespace wirewise
