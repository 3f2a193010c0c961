#include "simulator/planner/candidate.hpp"

#include <fmt/format.h>

#include "model/units/error.hpp"
#include "simulator/planner/bottleneck.hpp"
#include "simulator/planner/overflow.hpp"

namespace wirewise {

namespace {

FlopsPerSecond dense_peak(const GpuModel& gpu, DType compute) {
    const auto row = gpu.dense_peak.find(compute);
    if (row == gpu.dense_peak.end())
        throw InputError("--compute-dtype", fmt::format("{} has no {} rate", gpu.name, name_of(compute)),
                         gpu.dense_peak.contains(DType::fp16) ? "write --compute-dtype fp16"
                                                              : "write --compute-dtype fp32");
    return row->second;
}

Throughput throughput_of(const Question& question, const PlanCandidate& candidate, const Site& site) {
    Throughput result;
    const ParallelPlan& plan = candidate.plan;
    result.tokens_per_second = tokens_per_second(plan, candidate.estimate.time.step);
    result.tokens_per_second_per_gpu = result.tokens_per_second / plan.mesh.world();
    result.model_flops_per_token = model_flops_per_token(question.model, plan.sequence_length);
    result.peak = dense_peak(site.gpu(), plan.precision.compute);
    result.mfu = result.tokens_per_second_per_gpu * result.model_flops_per_token / result.peak.value();
    result.hfu = candidate.estimate.executed / candidate.estimate.time.step / result.peak;
    return result;
}

}  // namespace

std::string_view name_of(Fit fit) {
    constexpr std::string_view names[] = {"yes", "tight", "no"};
    return names[static_cast<std::size_t>(fit)];
}

double tokens_per_second(const ParallelPlan& plan, Seconds step) {
    const auto tokens = plan.tokens_per_micro_batch() * plan.gradient_accumulation * plan.mesh.world();
    return step.value() > 0 ? static_cast<double>(tokens) / step.value() : 0;
}

Fit fit_of(Bytes limit, Bytes least, const Interval<Bytes>& interval) {
    if (interval.hi <= limit) return Fit::yes;
    return least <= limit ? Fit::tight : Fit::no;
}

Fit fit_of(const HostMemory& host) {
    constexpr std::int64_t kSlackPart = 10;
    if (host.limit == Bytes(0) || host.peak + host.peak / kSlackPart <= host.limit) return Fit::yes;
    return host.peak <= host.limit ? Fit::tight : Fit::no;
}

Fit fit_of(const Estimate& estimate, Bytes limit, const Interval<Bytes>& interval) {
    return std::max(fit_of(limit, estimate.least_used(), interval), fit_of(estimate.host));
}

ParallelPlan plan_for(const Question& question, Strategy strategy, int ranks) {
    ParallelPlan plan = question.plan;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, ranks, question.shard_group);
    if (strategy == Strategy::single) plan.offload = {};  // the baseline
    if (!question.global_batch) return plan;
    const std::int64_t together = plan.micro_batch * ranks;
    if (*question.global_batch % together != 0)
        throw InputError(
            "--global-batch",
            fmt::format("{} is not a multiple of micro-batch x GPUs = {}", *question.global_batch, together),
            fmt::format("write for example {}", (*question.global_batch / together + 1) * together));
    plan.gradient_accumulation = *question.global_batch / together;
    return plan;
}

Site site_of(const Question& question, std::vector<int> gpus) {
    return {question.machine, question.environment, question.profile, &question.samples, std::move(gpus)};
}

PlanCandidate judge(const Question& question, const ParallelPlan& plan, const Site& site) {
    PlanCandidate candidate;
    candidate.plan = plan;
    candidate.gpus = site.gpus();
    candidate.estimate = estimate(question.model, plan, site);
    candidate.states = states_of(question.model.parameters(), plan);
    candidate.limit = site.memory_limit();
    candidate.intervals = intervals_of(candidate.estimate, plan, site);
    candidate.fits = fit_of(candidate.estimate, candidate.limit, candidate.intervals.memory);
    candidate.oom_probability = chance_above(candidate.limit, candidate.intervals);
    candidate.throughput = throughput_of(question, candidate, site);
    candidate.bottleneck = bottleneck_of(candidate.estimate);
    if (candidate.fits != Fit::yes) candidate.overflow = overflow_of(question.model, plan, candidate);
    return candidate;
}

}  // namespace wirewise
