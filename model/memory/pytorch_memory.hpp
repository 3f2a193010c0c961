// What PyTorch holds at its peak: the programs of load, first, second and steady step walked one after
// another with the caching allocator. Outside of it a process holds its context and communicators: the cost
// profile's, per transport.
#pragma once

#include <vector>

#include "model/program/walk.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

struct PytorchMemory {
    StaleBucket stale_bucket{};      // the state this prediction is for
    std::vector<MemoryPeak> phases;  // load, first, second, steady step
    MemoryPeak peak;                 // over all phases
};

// One prediction; for DDP and ZeRO-1, whose second step races with NCCL's watchdog, one for every StaleBucket
// in the order of the enum: a run must survive each.
std::vector<PytorchMemory> predict_pytorch_memory(const Transformer& model, const ParallelPlan& plan);

// The state to expect. The watchdog needs up to 100 ms to see the first all-reduce end. The main thread gives
// it that time while the driver allocates `new_optimizer_state` (3.6 ms per GB: fitted on twelve runs on two
// H200, 2026-11, which it sorts but for one; no law) and while ZeRO-1's first `parameter_broadcasts` run.
StaleBucket likely_stale_bucket(Bytes new_optimizer_state, Seconds parameter_broadcasts);

}  // namespace wirewise
