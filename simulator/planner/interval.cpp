#include "simulator/planner/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wirewise {

namespace {

constexpr double kSigmas90 = 1.6449;  // half width of a normal's 90 % interval, in standard deviations

Bytes share(double part, Bytes of) { return Bytes(std::llround(part * static_cast<double>(of.count()))); }

Interval<Bytes> around(Bytes middle, double half) {
    return {std::max(Bytes(0), middle - share(half, middle)), middle + share(half, middle)};
}

void include(Interval<Bytes>& interval, const Interval<Bytes>& other) {
    interval.lo = std::min(interval.lo, other.lo);
    interval.hi = std::max(interval.hi, other.hi);
}

std::string words(const Width& width) {
    return fmt::format("+-{:.2g} %, {}", 100 * width.half, width.origin.source);
}

// Like the script that was measured: transformers computes the loss, of all logits at once, and a layer is
// recomputed whole or not at all. torchtitan, torchtune and their like run the same framework in ways of
// their own.
bool runs_as_measured(const ParallelPlan& plan) {
    return plan.runtime != Runtime::pytorch ||
           (plan.loss == LossSettings{} && plan.loss_chunk == 0 && plan.recompute != Recompute::selective);
}

const MemoryWidths& memory_widths(const ParallelPlan& plan, const Site& site) {
    const CostProfile& profile = site.profile();
    if (profile.gpu != site.gpu().name) return profile.widths.memory_of("other");
    const bool of_others = profile.measured && !runs_as_measured(plan);
    return profile.widths.memory_of(of_others ? "published" : name_of(plan.runtime));
}

std::vector<Outcome> outcomes_of(const Estimate& estimate, const MemoryWidths& widths) {
    const auto outcome = [&](Bytes allocated, Bytes reserved, double probability) {
        const Bytes used = reserved + estimate.runtime.total();
        const Bytes least = used - estimate.spare;
        const double half = widths.device_used.half;
        return Outcome{allocated,           reserved,   used, around(used, half), least,
                       around(least, half), probability};
    };
    const double expected = estimate.others.empty() ? 1 : widths.expected_outcome.half;
    std::vector<Outcome> outcomes{outcome(estimate.peak.allocated, estimate.reserved, expected)};
    for (const RacePeak& other : estimate.others)
        outcomes.push_back(outcome(other.allocated, other.reserved,
                                   (1 - expected) / static_cast<double>(estimate.others.size())));
    return outcomes;
}

// The relative width of a step's kernels and of what was measured with them, and why.
struct StepWidth {
    double half;
    std::string why;
};

StepWidth kernels_width(const Estimate& estimate, const ParallelPlan& plan, const Site& site) {
    const Widths& widths = site.profile().widths;
    const StepWidths* known = widths.step_of(name_of(plan.runtime));
    if (!site.profile().measured && !known) known = widths.step_of("other");
    const bool inside = known && known->tokens.holds(static_cast<double>(plan.tokens_per_micro_batch())) &&
                        known->sequence.holds(static_cast<double>(plan.sequence_length));
    const bool same_gpu = site.profile().gpu == site.gpu().name;
    const Width& outside = known ? known->extrapolated : widths.unmeasured_step();
    const Width& width = inside && same_gpu ? known->gpu_bound : outside;
    StepWidth result{width.half, words(width)};
    if (known && estimate.time.host_bound && known->host_bound.half > result.half)
        result = {known->host_bound.half, "a host-bound step: " + words(known->host_bound)};
    if (!inside) result.why = "outside of what was measured: " + result.why;
    return result;
}

// TCP sockets between processes of one host, which is what "net" is there, do not keep their speed:
// seven steps of another hour were off by up to 28 %, mean 11.5 %, and by 3.7 % with that hour's samples (two
// H200, 2026-11-30, tests/gpu/results/LOOP.md).
constexpr double kSocketDrift = 0.28;

// What the wires may add: of the time that communication is exposed, the part on wires whose speed is
// computed and not measured, as far as each may be off, and the part on wires that do not keep theirs.
double wires_width(const Estimate& estimate, int servers) {
    double communication = 0, doubt = 0;
    for (const CollectiveUse& use : estimate.collectives) {
        communication += use.seconds.value();
        const double drift = estimate.runtime.transport == "net" && servers == 1 ? kSocketDrift : 0;
        doubt += use.seconds.value() * (use.measured ? drift : use.spread - 1);
    }
    if (communication <= 0 || estimate.time.step.value() <= 0) return 0;
    return doubt / communication * (estimate.time.exposed_communication / estimate.time.step);
}

void set_step(Intervals& intervals, const Estimate& estimate, const ParallelPlan& plan, const Site& site) {
    const StepWidth kernels = kernels_width(estimate, plan, site);
    const double wires = wires_width(estimate, site.machine().servers),
                 half = std::hypot(kernels.half, wires);
    intervals.step = {estimate.time.step * std::max(0.0, 1 - half), estimate.time.step * (1 + half)};
    intervals.step_origin = kernels.why;
    if (wires > 0) intervals.step_origin += fmt::format("; wires: +-{:.2g} %", 100 * wires);
}

// FSDP1's gathered parameters are free when the GPU has passed record_stream's event: what is reserved
// depends on how far the host leads, which the walk takes as long as its rate limiter lets it be, or, without
// that, its queue. So it may be anything down to what is allocated; upwards the walk was at most 1.8 % short
// in 15 steps (tests/validate/cases/pytorch_steps_fsdp1.jsonl).
bool host_decides_reserved(const ParallelPlan& plan) {
    return plan.runtime == Runtime::pytorch && plan.fsdp_version == 1 && sharding_of(plan.strategy).gradients;
}

void widen_for_the_host(Intervals& intervals, const Estimate& estimate) {
    constexpr double kShort = 0.02;
    const Bytes allocated = estimate.peak.allocated, outside = estimate.runtime.total();
    include(intervals.reserved, {allocated, estimate.reserved + share(kShort, estimate.reserved)});
    Outcome& outcome = intervals.outcomes.front();
    include(outcome.interval, {allocated + outside, outcome.used + share(kShort, outcome.used)});
    include(outcome.least_interval, {allocated + outside, outcome.least + share(kShort, outcome.least)});
    intervals.memory = outcome.interval;
    intervals.least = outcome.least_interval;
}

}  // namespace

Intervals memory_intervals_of(const Estimate& estimate, const ParallelPlan& plan, const Site& site) {
    const MemoryWidths& widths = memory_widths(plan, site);
    Intervals intervals;
    intervals.outcomes = outcomes_of(estimate, widths);
    intervals.memory = intervals.outcomes.front().interval;
    intervals.least = intervals.outcomes.front().least_interval;
    intervals.allocated = around(estimate.peak.allocated, widths.allocated.half);
    intervals.reserved = around(estimate.reserved, widths.reserved.half);
    for (const Outcome& outcome : intervals.outcomes) {
        include(intervals.memory, outcome.interval);
        include(intervals.least, outcome.least_interval);
        include(intervals.allocated, around(outcome.allocated, widths.allocated.half));
        include(intervals.reserved, around(outcome.reserved, widths.reserved.half));
    }
    if (host_decides_reserved(plan)) widen_for_the_host(intervals, estimate);
    intervals.memory_origin =
        words(widths.device_used) +
        (host_decides_reserved(plan) ? "; FSDP1 holds what it gathers as long as the host leads" : "") +
        (estimate.others.empty() ? "" : "; around every outcome of the race for DDP's first bucket");
    return intervals;
}

Intervals intervals_of(const Estimate& estimate, const ParallelPlan& plan, const Site& site) {
    Intervals intervals = memory_intervals_of(estimate, plan, site);
    set_step(intervals, estimate, plan, site);
    return intervals;
}

double chance_above(Bytes limit, Bytes expected, const Interval<Bytes>& interval) {
    const Bytes arm = limit < expected ? expected - interval.lo : interval.hi - expected;
    const double sigma = static_cast<double>(arm.count()) / kSigmas90;
    const double margin = static_cast<double>((limit - expected).count());
    if (sigma <= 0) return margin < 0 ? 1 : 0;
    return 0.5 * std::erfc(margin / sigma / std::sqrt(2.0));
}

double chance_above(Bytes limit, const Intervals& intervals) {
    double chance = 0;
    for (const Outcome& outcome : intervals.outcomes)
        chance += outcome.probability * chance_above(limit, outcome.least, outcome.least_interval);
    return chance;
}

}  // namespace wirewise
