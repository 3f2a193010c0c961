// Measured steps as models and plans: fixtures/training_steps.jsonl, and the rows of calibration/samples.
#pragma once

#include <string>
#include <vector>

#include "simulator/planner/walk_phases.hpp"

namespace wirewise {

struct MeasuredStep {
    std::string id;
    Transformer model;
    ParallelPlan plan;
    Bytes allocated, reserved;
    std::string wire;  // "nvlink", "host_memory", "tcp_socket"
    Seconds time;
};
const std::vector<MeasuredStep>& measured_steps();
const MeasuredStep& measured_step(const std::string& id);
// What tests/benchmarks/gpu/pytorch_steps.py measured, on one GPU or two.
std::vector<MeasuredStep> sampled_steps(const std::string& machine);

// One step of a short model of each architecture, in the steady state.
struct TracedStep {
    std::string id;
    Transformer model;
    ParallelPlan plan;
    Bytes forward_peak, backward_peak;  // over what lives between steps
};
std::vector<TracedStep> traced_steps();

// Of the states the plan can be in, the one nearest to what was measured (DDP, ZeRO-1: StaleBucket).
WalkedPhases nearest_walk(const MeasuredStep& step);

}  // namespace wirewise
