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

// A step of the question's plan (its strategy on all of its GPUs), lowered and simulated.
struct StepToObserve {
    std::string id, model, wire;
    std::shared_ptr<const Question> question;
    ParallelPlan plan;
    Seconds measured;
};
Observation observe_step(const StepToObserve& step);

}  // namespace wirewise
