#include "tools/render/plan_json.hpp"

#include "simulator/planner/candidate.hpp"
#include "simulator/planner/plan_file.hpp"
#include "simulator/planner/surprises.hpp"
#include "tools/render/model_report.hpp"
#include "tools/render/money.hpp"

namespace wirewise {

namespace {

Json states_json(const States& states) {
    return {{"parameters", states.parameters.count()},
            {"gradients", states.gradients.count()},
            {"optimizer", states.optimizer.count()},
            {"master_parameters", states.master_parameters.count()}};
}

}  // namespace

Json memory_breakdown_json(const Estimate& estimate) {
    const auto row = [&](Role role) {
        return estimate.peak.breakdown[static_cast<std::size_t>(role)].count();
    };
    return {{"parameters", row(Role::parameter)},
            {"master_parameters", row(Role::master_parameter)},
            {"gradients", row(Role::gradient)},
            {"optimizer", row(Role::optimizer)},
            {"activations", row(Role::activation)},
            {"logits", row(Role::logits)},
            {"communication", row(Role::communication)},
            {"workspace", row(Role::workspace)},
            {"fragmentation", (estimate.reserved - estimate.peak.allocated).count()},
            {"runtime", estimate.runtime.total().count()}};
}

namespace {

Json phases_json(const Estimate& estimate) {
    Json phases = Json::array();
    for (const PhasePeak& phase : estimate.phases)
        phases.push_back({{"phase", name_of(phase.phase)},
                          {"peak_bytes", (phase.peak.reserved + estimate.runtime.total()).count()},
                          {"host_peak_bytes", phase.peak.host.count()},
                          {"peak_allocated_bytes", phase.peak.allocated.count()},
                          {"peak_at", phase.peak.at}});
    return phases;
}

Json ends_json(const Interval<Bytes>& interval) { return {interval.lo.count(), interval.hi.count()}; }

Json memory_json(const PlanCandidate& candidate) {
    const Estimate& estimate = candidate.estimate;
    Json memory{
        {"peak_bytes", estimate.device_used().count()},
        {"limit_bytes", candidate.limit.count()},
        {"interval_bytes", {candidate.intervals.memory.lo.count(), candidate.intervals.memory.hi.count()}},
        {"interval_level", kIntervalLevel},
        {"interval_origin", candidate.intervals.memory_origin},
        {"peak_allocated_bytes", estimate.peak.allocated.count()},
        {"interval_allocated_bytes", ends_json(candidate.intervals.allocated)},
        {"peak_reserved_bytes", estimate.reserved.count()},
        {"interval_reserved_bytes", ends_json(candidate.intervals.reserved)},
        {"device_used_bytes", estimate.device_used().count()},
        {"least_bytes", estimate.least_used().count()},
        {"peak_at", std::string(name_of(estimate.peak.phase)) + ": " + estimate.peak.at},
        {"states", states_json(candidate.states)},
        {"breakdown", memory_breakdown_json(estimate)},
        {"runtime",
         {{"context_bytes", estimate.runtime.context.count()},
          {"communicators_bytes", estimate.runtime.communicators.count()},
          {"transport", estimate.runtime.transport}}},
        {"phases", phases_json(estimate)}};
    const std::vector<Outcome>& outcomes = candidate.intervals.outcomes;
    if (!outcomes.empty()) memory["probability"] = outcomes.front().probability;
    for (std::size_t i = 1; i < outcomes.size(); ++i)
        memory["alternatives"].push_back({{"peak_allocated_bytes", outcomes[i].allocated.count()},
                                          {"peak_reserved_bytes", outcomes[i].reserved.count()},
                                          {"peak_bytes", outcomes[i].used.count()},
                                          {"interval_bytes", ends_json(outcomes[i].interval)},
                                          {"probability", outcomes[i].probability}});
    if (candidate.overflow)
        memory["overflow"] = {{"buffer", candidate.overflow->buffer},
                              {"at", candidate.overflow->at},
                              {"short_by_bytes", candidate.overflow->short_by.count()}};
    return memory;
}

// Of the server that needs most, all its ranks together.
Json host_memory_json(const HostMemory& host) {
    return {{"peak_bytes", host.peak.count()},
            {"limit_bytes", host.limit > Bytes(0) ? Json(host.limit.count()) : Json(nullptr)},
            {"fits", name_of(fit_of(host))},
            {"phase", name_of(host.phase)},
            {"why", host.why}};
}

Json time_json(const PlanCandidate& candidate) {
    const TimelineSummary& time = candidate.estimate.time;
    return {{"step_seconds", time.step.value()},
            {"interval_seconds", {candidate.intervals.step.lo.value(), candidate.intervals.step.hi.value()}},
            {"interval_origin", candidate.intervals.step_origin},
            {"compute_seconds", time.compute.value()},
            {"communication_seconds", time.communication.value()},
            {"exposed_communication_seconds", time.exposed_communication.value()},
            {"optimizer_seconds", time.optimizer.value()},
            {"idle_seconds", time.idle.value()},
            {"gemm_seconds", candidate.estimate.gemm.value()},
            {"attention_seconds", candidate.estimate.attention.value()},
            {"host_bound", time.host_bound}};
}

Json throughput_json(const Throughput& throughput) {
    return {{"tokens_per_second", throughput.tokens_per_second},
            {"tokens_per_second_per_gpu", throughput.tokens_per_second_per_gpu},
            {"mfu", throughput.mfu},
            {"hfu", throughput.hfu},
            {"peak_flops_per_second", throughput.peak.value()},
            {"model_flops_per_token", throughput.model_flops_per_token},
            {"speedup_over_single", throughput.speedup_over_single}};
}

Json collectives_json(const Estimate& estimate) {
    Json list = Json::array();
    for (const CollectiveUse& use : estimate.collectives)
        list.push_back({{"op", name_of(use.kind)},
                        {"axis", name_of(use.axis)},
                        {"calls", use.calls},
                        {"bytes", use.bytes.count()},
                        {"seconds", use.seconds.value()},
                        {"busbw_bytes_per_second", use.busbw.value()},
                        {"link", use.link}});
    return list;
}

Json remedies_json(const PlanCandidate& candidate) {
    Json list = Json::array();
    for (const Remedy& remedy : candidate.remedies)
        list.push_back({{"option", remedy.option},
                        {"peak_bytes", remedy.peak.count()},
                        {"host_peak_bytes", remedy.host_peak.count()},
                        {"step_seconds", remedy.step.value()},
                        {"fits", name_of(remedy.fits)}});
    return list;
}

}  // namespace

Json candidate_json(const PlanCandidate& candidate, const Inputs& inputs) {
    Json json{{"strategy", name_of(candidate.plan.strategy)},
              {"gpus", candidate.gpus},
              {"mesh", mesh_json(candidate.plan.mesh)},
              {"gradient_accumulation", candidate.plan.gradient_accumulation},
              {"fits", name_of(candidate.fits)},
              {"oom_probability", candidate.oom_probability},
              {"memory", memory_json(candidate)},
              {"host_memory", host_memory_json(candidate.estimate.host)},
              {"time", time_json(candidate)},
              {"throughput", throughput_json(candidate.throughput)},
              {"bottleneck", candidate.bottleneck},
              {"collectives", collectives_json(candidate.estimate)},
              {"remedies", remedies_json(candidate)}};
    if (inputs.tokens_total > 0) json["job"] = job_json(job_of(inputs, candidate));
    return json;
}

Json plan_document(const Inputs& inputs, const Answer& answer) {
    Json document{{"schema", "wirewise.plan/1"},
                  {"inputs", echo_of(inputs)},
                  {"model", model_json(inputs.question.model)},
                  {"candidates", Json::array()}};
    for (const PlanCandidate& candidate : answer.candidates)
        document["candidates"].push_back(candidate_json(candidate, inputs));
    document["single_gpu"] = {{"tokens_per_second", answer.single.tokens_per_second},
                              {"fits", name_of(answer.single.fits)},
                              {"peak_bytes", answer.single.peak.count()}};
    document["recommended"] = answer.recommended ? Json(*answer.recommended) : Json(nullptr);
    document["why"] = answer.why;
    document["notes"] = surprises_of(answer);
    document["warnings"] = inputs.warnings;
    return document;
}

}  // namespace wirewise
