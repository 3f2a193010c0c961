// Measured cases as observations of a fit.
#pragma once

#include <memory>
#include <optional>

#include "calibration/cases/case.hpp"
#include "calibration/fit/observation.hpp"
#include "simulator/planner/question.hpp"

namespace wirewise {

// A kernel or transfer timed alone. Nothing for samples that time the host's launch instead.
std::optional<Observation> observe_kernel(const MeasuredCase& measured);

// A product and a collective beside each other: what each takes then, the one as the other's loop never ends.
struct ContentionToObserve {
    std::string id, transport;
    int channels = 0;
    Gemm gemm;
    Seconds collective;  // alone
    double matrix_slowdown = 0, collective_slowdown = 0;
};
std::vector<Observation> observe_contention(const ContentionToObserve& pair);

// A step of the question's plan (its strategy on all of its GPUs), lowered and simulated.
struct StepToObserve {
    std::string id, model, wire;
    std::shared_ptr<const Question> question;
    ParallelPlan plan;
    Seconds measured;
};
Observation observe_step(const StepToObserve& step);

// A step that was run: the program and what each rank measured of it, joined with what is simulated on the
// op's id. Ops that do the same work are one observation, of all their time in the step.
struct TimelinesToObserve {
    StepProgram program;
    std::vector<Timeline> measured;  // by rank
    std::function<CollectiveCost(const CostProfile&)> wires;
    std::string runtime;
    Seconds shortest;  // classes that take less of a step are noise
};
std::vector<Observation> observe_timelines(const TimelinesToObserve& run);

}  // namespace wirewise
