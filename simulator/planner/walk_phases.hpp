// The phases of one plan, walked one after another with the runtime's allocator.
#pragma once

#include <vector>

#include "model/program/walk.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

struct PhasePeak {
    Phase phase{};
    MemoryPeak peak;
    Bytes host_kept;  // in host memory when the phase is over, this rank's
};

struct WalkedPhases {
    std::vector<PhasePeak> phases;  // in the order they happen
    MemoryPeak peak;                // the highest allocated of all phases
    Bytes reserved;                 // the highest reserved of all phases
    StepProgram steady;             // the program of the steady step, of kWalkedMicroBatches at most
};

// Programs of more micro-batches than this are walked with this many: those in the middle are all alike.
constexpr std::int64_t kWalkedMicroBatches = 16;
ParallelPlan with_walked_micro_batches(ParallelPlan plan);

// An empty walk with the runtime's allocator.
MemoryWalk walk_for(Runtime runtime);

// The least that the caching allocator can do with: it gives back every segment that it merely caches before
// it asks the driver for one, as it does when the device is full.
Bytes least_reserved(const Transformer& model, const ParallelPlan& plan);

WalkedPhases walk_phases(const Transformer& model, const ParallelPlan& plan);

// PyTorch's DDP and ZeRO-1 hold a stale bucket in the second step or not: their peak has several values.
bool has_stale_bucket(const ParallelPlan& plan);

// Whether `phase` is, op for op, the program of the phase before it; lowered once then.
bool repeats_previous_phase(const ParallelPlan& plan, Phase phase);

// The first buffer that does not fit while the phases are walked: allocated memory exceeds `limit` at its op.
struct FirstOverflow {
    Phase phase{};
    std::string
        buffer;      // "gate_up of layer 12 (activation, 470 MB, bf16)"; empty when allocated never exceeds
    std::string at;  // the op, for people
};
FirstOverflow first_overflow(const Transformer& model, const ParallelPlan& plan, Bytes limit);

}  // namespace wirewise
