#include "tools/validate/step_terms.hpp"

#include <algorithm>

#include "model/strategy/lower.hpp"
#include "simulator/planner/candidate.hpp"

namespace wirewise {

namespace {

CollectivePrice free_of_charge(Axis, CollectiveKind, Bytes) { return {}; }

RuntimeCosts without_host(RuntimeCosts costs) {
    costs.kernel = costs.collective = costs.copy = costs.event = Seconds(0);
    costs.hook = costs.optimizer_loop = costs.synchronize = Seconds(0);
    return costs;
}

void add_kernels(StepTerms& terms, const StepProgram& program, const Timeline& timeline) {
    for (const Span& span : timeline.spans) {
        const auto* compute = std::get_if<Compute>(&program.ops[index_of(span.op)].payload);
        if (!compute) continue;
        const Seconds seconds = to_seconds(span.end - span.begin);
        std::visit(Overloaded{[&](const Gemm&) { terms.gemm += seconds; },
                              [&](const Attention&) { terms.attention += seconds; },
                              [&](const Pointwise&) { terms.memory_bound += seconds; },
                              [&](const OptimizerUpdate&) { terms.optimizer += seconds; }},
                   program.at(compute->kernel));
    }
}

// Long accumulations are taken apart with fewer micro-batches, all alike.
void scale(StepTerms& terms, double factor) {
    for (const auto part :
         {&StepTerms::gemm, &StepTerms::attention, &StepTerms::memory_bound, &StepTerms::optimizer,
          &StepTerms::gaps, &StepTerms::exposed, &StepTerms::contention, &StepTerms::host})
        terms.*part = terms.*part * factor;
}

}  // namespace

StepTerms step_terms(const PredictedStep& predicted) {
    const Question& question = predicted.question;
    const ParallelPlan plan = with_walked_micro_batches(predicted.candidate.plan);
    const StepProgram program = lower(question.model, plan, Phase::steady_step);
    const Site site = site_of(question, predicted.candidate.gpus);
    const Wires wires = site.wires(plan.mesh);
    const RuntimeCosts host = site.profile().runtime(name_of(plan.runtime)), none = without_host(host);
    const TimelineSummary whole = summarize(program, simulate(program, site.profile(), wires, host));
    const TimelineSummary unhindered = summarize(program, simulate(program, site.profile(), wires, none));
    const Timeline alone = simulate(program, site.profile(), free_of_charge, none);
    StepTerms terms;
    add_kernels(terms, program, alone);
    const Seconds without = to_seconds(alone.end);
    terms.gaps = without - (terms.gemm + terms.attention + terms.memory_bound + terms.optimizer);
    terms.exposed = unhindered.exposed_communication;
    terms.contention = unhindered.step - without - terms.exposed;
    terms.host = whole.step - unhindered.step;
    scale(terms, predicted.candidate.estimate.time.step / whole.step);
    return terms;
}

}  // namespace wirewise
