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

// The cuts that separate the group: every single GPU's own, and the min-cuts between the first GPU and each
// other, both ways. `alike`: all GPUs of the group hang alike from one switch, so that one pair stands for
// all.
std::vector<Cut> cuts_between(const Machine& machine, const std::vector<int>& local_gpus, bool alike);

// Least time per byte of S that a cut with `inside` of `ranks` on its sending side allows.
double seconds_per_byte_over(const Cut& cut, CollectiveKind kind, int ranks);

}  // namespace wirewise
