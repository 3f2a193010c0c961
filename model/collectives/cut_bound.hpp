// Min-cuts of a server between the GPUs of a group: no algorithm moves data across them faster.
#pragma once

#include <vector>

#include "model/topology/machine.hpp"
#include "model/units/collective.hpp"

namespace wirewise {

struct Cut {
    int inside = 0;          // GPUs of the group on the sending side
    bool sends_root = true;  // the group's first GPU is among them
    double capacity = 0;     // bytes per second from the sending side to the other, at wire rates
};

// The min-cuts between parts of the group that the wiring sets apart and the rest of it, both ways.
std::vector<Cut> cuts_between(const Machine& machine, const std::vector<int>& local_gpus);

// Least time per byte of S that a cut with `inside` of `ranks` on its sending side allows.
double seconds_per_byte_over(const Cut& cut, CollectiveKind kind, int ranks);

}  // namespace wirewise
