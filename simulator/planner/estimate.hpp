// What one plan needs on one site: its programs lowered, walked for memory and simulated for time.
#pragma once

#include <string>
#include <vector>

#include "model/program/timeline.hpp"
#include "model/program/walk.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"
#include "simulator/planner/host_memory.hpp"
#include "simulator/planner/site.hpp"
#include "simulator/planner/walk_phases.hpp"

namespace wirewise {

// What a process holds outside its allocator.
struct RuntimeMemory {
    Bytes context;          // CUDA context and libraries
    Bytes communicators;    // NCCL buffers, all communicators together
    std::string transport;  // of the slowest wire: "p2p", "shm", "net"; empty on one GPU
    Bytes total() const { return context + communicators; }
};

// One kind of collective on one axis, all its calls of a step together.
struct CollectiveUse {
    CollectiveKind kind{};
    Axis axis{};
    std::int64_t calls = 0;
    Bytes bytes;           // of all calls
    Seconds seconds;       // of all calls, in the simulated step
    std::string link;      // the bottleneck, for people
    BytesPerSecond busbw;  // of the largest call running alone
    bool measured = true;  // all calls are read off samples of these very wires
    double spread = 1;     // 90 % of such wires are within this factor
};

// A peak that the same plan has when a race in the runtime goes another way.
struct RacePeak {
    Bytes allocated, reserved;
};

struct Estimate {
    std::vector<PhasePeak> phases;  // in the order they happen
    MemoryPeak peak;                // the highest allocated of all phases
    Bytes reserved;                 // the highest reserved of all phases
    std::vector<RacePeak>
        others;  // what else the peak may be, where it is decided by a race (see StaleBucket)
    RuntimeMemory runtime;
    HostMemory host;
    // Of `reserved`, what the runtime's allocator only caches and gives back when the device is full. Worked
    // out where that decides whether the plan fits, for the expected outcome of a race, and taken for the others
    // too; zero elsewhere.
    Bytes spare;
    Bytes device_used() const { return reserved + runtime.total(); }
    Bytes least_used() const { return device_used() - spare; }

    TimelineSummary time;
    Seconds gemm, attention, pointwise;      // kernels alone, forward and backward
    Flops executed;                          // matrix products and attention, recomputation included
    std::vector<CollectiveUse> collectives;  // most time first
};

// Throws InputError when the runtime has no such strategy.
Estimate estimate(const Transformer& model, const ParallelPlan& plan, const Site& site);

// The step alone, timed on this site.
Timeline simulate_on(const Site& site, const ParallelPlan& plan, const StepProgram& program);

// Memory alone: for searches that look at many plans.
Estimate estimate_memory(const Transformer& model, const ParallelPlan& plan, const Site& site);

}  // namespace wirewise
