// Times a StepProgram: streams are FIFOs fed by one host thread, collectives and kernels slow each other
// down, waits are events. Deterministic; integer picoseconds.
#pragma once

#include <functional>

#include "model/collectives/pricer.hpp"
#include "model/cost/cost_profile.hpp"
#include "model/program/timeline.hpp"

namespace wirewise {

// What a collective of the group along `axis` costs on its own: the pricers below, or measured samples.
using CollectiveCost = std::function<CollectivePrice(Axis, CollectiveKind, Bytes)>;

// One pricer per mesh axis that the program uses; is a CollectiveCost.
struct Wires {
    const CollectivePricer* replicate = nullptr;
    const CollectivePricer* shard = nullptr;
    const CollectivePricer* world = nullptr;
    // Nobody else along the axis (HSDP's degenerate forms): its collectives are no calls.
    bool alone(Axis axis) const;
    const CollectivePricer& of(Axis axis) const;
    CollectivePrice operator()(Axis axis, CollectiveKind kind, Bytes bytes) const;
};

// A step in the middle of a run: the host is as far ahead of the GPU as it would be after many such steps,
// and a step never takes less time than the host needs to issue it.
Timeline simulate(const StepProgram& program, const CostProfile& profile, const CollectiveCost& wires,
                  const RuntimeCosts& runtime);

}  // namespace wirewise
