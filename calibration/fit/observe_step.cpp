#include <fmt/format.h>

#include "calibration/fit/observe.hpp"
#include "model/strategy/lower.hpp"
#include "simulator/planner/candidate.hpp"
#include "simulator/planner/walk_phases.hpp"

namespace wirewise {

namespace {

// What predicting the step again and again needs; shared by the copies of its observation.
struct Prepared {
    std::shared_ptr<const Question> question;
    Site site;
    ParallelPlan plan;
    StepProgram program;
    Wires wires;

    Prepared(const StepToObserve& step)
        : question(step.question),
          site(site_of(*question, question->gpus)),
          plan(step.plan),
          program(lower(question->model, plan, Phase::steady_step)),
          wires(site.wires(plan.mesh)) {}

    Timeline timeline(CostProfile profile) const {
        profile.host = question->profile.host;  // the machine's, not the GPU's
        return simulate(program, profile, wires, profile.runtime(name_of(plan.runtime)));
    }
};

}  // namespace

Observation observe_step(const StepToObserve& step) {
    const auto prepared = std::make_shared<const Prepared>(step);
    const TimelineSummary summary = summarize(prepared->program, prepared->timeline(step.question->profile));
    const ParallelPlan& plan = step.plan;
    return {
        step.id,
        fmt::format("{} step, {}-bound", name_of(plan.runtime), summary.host_bound ? "host" : "GPU"),
        step.measured.value(),
        [prepared](const CostProfile& profile) {
            return to_seconds(prepared->timeline(profile).end).value();
        },
        {"model " + step.model, fmt::format("strategy {}", name_of(plan.strategy)), "wire " + step.wire,
         fmt::format("sequence {}", plan.sequence_length), fmt::format("micro-batch {}", plan.micro_batch)},
        ""};
}

}  // namespace wirewise
