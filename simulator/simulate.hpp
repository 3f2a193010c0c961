// Times a StepProgram: streams are FIFOs fed by one host thread, collectives and kernels slow each other down, waits
// are events. Deterministic; integer picoseconds.
#pragma once

#include <functional>

#include "model/collectives/pricer.hpp"
#include "model/cost/cost_profile.hpp"
#include "model/program/timeline.hpp"

namespace wirewise {

// What the program's collectives run on: one pricer per mesh axis that the program uses.
struct Wires {
    const CollectivePricer* replicate = nullptr;
    const CollectivePricer* shard = nullptr;
    const CollectivePricer* world = nullptr;
    const CollectivePricer& of(Axis axis) const;
};

Timeline simulate(const StepProgram& program, const CostProfile& profile, const Wires& wires);

}  // namespace wirewise
