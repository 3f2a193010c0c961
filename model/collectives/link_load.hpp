// What an algorithm puts on each wire: bytes on the wire per byte of bus traffic (nccl-tests' busbw x time).
#pragma once

#include <vector>

#include "model/collectives/group_wires.hpp"
#include "model/collectives/ring_search.hpp"

namespace wirewise {

using LinkLoad = std::vector<double>;  // by wire

// Of rings or chains that share the traffic.
LinkLoad tour_load(const GroupWires& wires, const std::vector<Ring>& tours, Tour tour);
// Bytes per second that rings carry at the rates NCCL plans with.
double planned_rate(const GroupWires& wires, const std::vector<Ring>& rings);
// Every rank sends to the next one in the order given (send_recv of nccl-tests).
LinkLoad shift_load(const GroupWires& wires);
// Every rank sends to every other.
LinkLoad exchange_load(const GroupWires& wires);

void add(LinkLoad& sum, const LinkLoad& more);

// Bus bytes per second that the wires allow under that load.
Narrowest narrowest(const std::vector<Wire>& wires, const LinkLoad& load);

// Seconds per byte of the last receive of a ring, which nothing overlaps: out of the GPU's own memory by its
// thread blocks, or out of host memory over PCIe once more. `load` is what all groups put on the wires. How
// rings of equal rate divide between several wires down from host memory is chance: each counts as if all
// came over it, but no slower than the rings.
double last_receive_cost(const GroupWires& wires, const std::vector<Ring>& rings, const LinkLoad& load,
                         double local_copy_rate);

// The slowest transport that the rings use.
Transport slowest_transport(const GroupWires& wires, const std::vector<Ring>& rings);

}  // namespace wirewise
