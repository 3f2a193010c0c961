// One step of one plan as a picture shows it: what each stream did when, and how much memory was allocated.
#pragma once

#include <vector>

#include "model/program/timeline.hpp"
#include "model/program/walk.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"
#include "simulator/planner/site.hpp"

namespace wirewise {

struct StepPicture {
    StepProgram program;  // the steady step, of kWalkedMicroBatches at most
    Timeline timeline;
    std::vector<Bytes> allocated_by_op;
};

StepPicture picture_of_step(const Transformer& model, const ParallelPlan& plan, const Site& site);

// Neighbours on a stream that belong to the same part of the step, drawn as one bar.
struct Bar {
    StreamId stream{};
    Instant begin, end;
    OpId first{};    // stands for the bar: its section, layer, micro-batch
    Instant busy{};  // without the gaps
    std::int64_t ops = 0;
};
std::vector<Bar> bars_of(const StepPicture& picture);

}  // namespace wirewise
