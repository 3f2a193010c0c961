#include "tools/validate/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibration/collective_site.hpp"
#include "model/collectives/pricer.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/topology/import.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "simulator/planner/candidate.hpp"
#include "tools/inputs/profile.hpp"
#include "tools/validate/predict.hpp"

namespace wirewise {

namespace {

Comparison begin(const MeasuredCase& one, const Reading& reading) {
    return {.id = one.id,
            .labels = one.labels,
            .quantity = reading.quantity,
            .measured = reading.value,
            .assumed = one.assumed};
}

std::pair<double, double> ends_of(const Interval<Bytes>& interval) {
    return {static_cast<double>(interval.lo.count()), static_cast<double>(interval.hi.count())};
}

// One outcome of the races that decide a peak.
struct Outcome {
    double allocated, reserved, used;
    double value(MeasuredQuantity quantity) const {
        if (quantity == MeasuredQuantity::peak_allocated_bytes) return allocated;
        return quantity == MeasuredQuantity::peak_reserved_bytes ? reserved : used;
    }
};

double host_bytes(const Estimate& estimate) { return static_cast<double>(estimate.host.peak.count()); }

bool is_memory(MeasuredQuantity quantity) { return quantity <= MeasuredQuantity::device_used_bytes; }

std::string name_of(const CostProfile& profile) { return profile.measured ? profile.name : "data sheet"; }

std::vector<Outcome> outcomes_of(const Estimate& estimate) {
    const auto outcome = [&](Bytes allocated, Bytes reserved) {
        return Outcome{static_cast<double>(allocated.count()), static_cast<double>(reserved.count()),
                       static_cast<double>((reserved + estimate.runtime.total()).count())};
    };
    std::vector<Outcome> all{outcome(estimate.peak.allocated, estimate.reserved)};
    for (const RacePeak& other : estimate.others) all.push_back(outcome(other.allocated, other.reserved));
    return all;
}

// PyTorch's DDP has peaks of several values and states all of them: the one that happened counts, for all of
// the case's readings together.
Outcome nearest_outcome(const Estimate& estimate, const std::vector<Reading>& readings) {
    const auto distance = [&](const Outcome& outcome) {
        double sum = 0;
        for (const Reading& reading : readings)
            if (is_memory(reading.quantity))
                sum += std::abs(outcome.value(reading.quantity) / reading.value - 1);
        return sum;
    };
    const auto all = outcomes_of(estimate);
    return *std::ranges::min_element(all, {}, distance);
}

std::string wire_of(const MeasuredCase& one, const Estimate& estimate) {
    if (!one.labels.wire.empty()) return one.labels.wire;
    return estimate.runtime.transport.empty() ? "none" : estimate.runtime.transport;
}

// Out of memory is said where the expected use, nothing cached, exceeds the limit; where the limit lies
// inside the interval, either answer is inside.
void judge_oom(Comparison& comparison, const PlanCandidate& candidate) {
    const Estimate& estimate = candidate.estimate;
    const Fit fit = fit_of(candidate.limit, estimate.least_used(), candidate.intervals.memory);
    comparison.predicted = fit == Fit::no ? 1 : 0;
    const auto [lo, hi] = ends_of(candidate.intervals.least);
    const double limit = static_cast<double>(candidate.limit.count());
    comparison.interval = {lo <= limit ? 0.0 : 1.0, hi <= limit ? 0.0 : 1.0};
}

void judge_host(Comparison& comparison, const Estimate& estimate) {
    const Fit fit = fit_of(estimate.host);
    comparison.predicted = fit == Fit::no ? 1 : 0;
    comparison.interval = {fit == Fit::no ? 1.0 : 0.0, fit == Fit::yes ? 0.0 : 1.0};
}

double seconds_of(const PredictedStep& predicted) { return predicted.candidate.estimate.time.step.value(); }

std::string answer_of(const PredictedStep& predicted) {
    const PlanCandidate& plan = predicted.candidate;
    const HostMemory& host = plan.estimate.host;
    std::string text = fmt::format("{}: {} of {}", name_of(plan.fits), to_text(plan.estimate.device_used()),
                                   to_text(plan.limit));
    if (host.limit.count() > 0)
        text += fmt::format(", host {} of {}", to_text(host.peak), to_text(host.limit));
    return fmt::format("{}; {} a step, {:.0f} tokens/s per GPU; {}", text, to_text(plan.estimate.time.step),
                       plan.throughput.tokens_per_second_per_gpu, plan.bottleneck);
}

std::vector<Comparison> compare_step(const MeasuredCase& one, const TrainingStepCase& step,
                                     const PredictedStep& predicted, const std::string& profile) {
    const PlanCandidate& candidate = predicted.candidate;
    const Outcome outcome = nearest_outcome(candidate.estimate, one.readings);
    std::vector<Comparison> result;
    for (const Reading& reading : one.readings) {
        Comparison comparison = begin(one, reading);
        comparison.labels.wire = wire_of(one, candidate.estimate);
        comparison.profile = name_of(predicted.question.profile);
        comparison.host_bound = candidate.estimate.time.host_bound;
        if (is_memory(reading.quantity)) comparison.predicted = outcome.value(reading.quantity);
        if (reading.quantity == MeasuredQuantity::peak_allocated_bytes)
            comparison.interval = ends_of(candidate.intervals.allocated);
        if (reading.quantity == MeasuredQuantity::peak_reserved_bytes)
            comparison.interval = ends_of(candidate.intervals.reserved);
        if (reading.quantity == MeasuredQuantity::device_used_bytes)
            comparison.interval = ends_of(candidate.intervals.memory);
        if (reading.quantity == MeasuredQuantity::step_seconds) {
            comparison.predicted = candidate.estimate.time.step.value();
            comparison.interval = {candidate.intervals.step.lo.value(), candidate.intervals.step.hi.value()};
        }
        if (reading.quantity == MeasuredQuantity::oom) judge_oom(comparison, candidate);
        if (reading.quantity == MeasuredQuantity::host_oom) judge_host(comparison, candidate.estimate);
        if (reading.quantity == MeasuredQuantity::host_bytes)
            comparison.predicted = host_bytes(candidate.estimate);
        if (reading.quantity == MeasuredQuantity::step_ratio)
            comparison.predicted =
                seconds_of(predict_step({step.other_options}, profile)) / seconds_of(predicted);
        result.push_back(std::move(comparison));
    }
    return result;
}

CollectivePrice price_of(const PublishedCollective& run, const std::string& profile) {
    const CollectiveSite site = site_of(run);
    const CollectiveSamples samples = samples_of(profile);
    return CollectivePricer(site.machine, site.environment, {site.gpus}, &samples).price(run.op, run.bytes);
}

std::vector<Comparison> compare_collective(const MeasuredCase& one, const PublishedCollective& run,
                                           const std::string& profile) {
    const CollectivePrice price = price_of(run, profile);
    std::vector<Comparison> result;
    for (const Reading& reading : one.readings) {
        Comparison comparison = begin(one, reading);
        const double at = price.busbw.value();
        comparison.predicted = reading.quantity == MeasuredQuantity::busbw ? at : price.seconds.value();
        comparison.interval = {price.busbw_low.value(), price.busbw_high.value()};
        if (reading.quantity == MeasuredQuantity::collective_seconds)
            comparison.interval = {price.seconds.value() * at / price.busbw_high.value(),
                                   price.seconds.value() * at / price.busbw_low.value()};
        result.push_back(std::move(comparison));
    }
    return result;
}

CostProfile costs_of(const std::string& machine_name, const std::string& profile) {
    std::vector<std::string> notes;
    return profile_of(profile, load_machine(machine_name, {}, notes), notes);
}

Comparison compare_seconds(const MeasuredCase& one, const CostProfile& costs, std::string_view kind,
                           Seconds seconds) {
    Comparison comparison = begin(one, one.readings.front());
    const double half = costs.widths.kernel_of(kind).half;
    comparison.profile = name_of(costs);
    comparison.predicted = seconds.value();
    comparison.interval = {seconds.value() * (1 - half), seconds.value() * (1 + half)};
    return comparison;
}

// Samples are taken in a loop of nothing else: products draw all the power there is.
Comparison compare_kernel(const MeasuredCase& one, const KernelCase& sample, const std::string& profile) {
    const CostProfile costs = costs_of(sample.machine, profile);
    const double clock = std::holds_alternative<Gemm>(sample.kernel) ? power_factor(1, costs.power) : 1;
    return compare_seconds(one, costs, width_kind(sample.kernel), kernel_time(sample.kernel, costs) * clock);
}

Comparison compare_transfer(const MeasuredCase& one, const TransferCase& sample, const std::string& profile) {
    const CostProfile costs = costs_of(sample.machine, profile);
    return compare_seconds(one, costs, "transfer",
                           copy_time({sample.from, sample.to, sample.bytes}, costs.copy));
}

}  // namespace

double Comparison::relative_error() const {
    if (is_verdict(quantity)) return predicted == measured ? 0 : 1;
    return measured == 0 ? 0 : predicted / measured - 1;
}

ComparedCase compare(const MeasuredCase& one, const std::string& profile) {
    try {
        if (const auto* step = std::get_if<TrainingStepCase>(&one.subject)) {
            const PredictedStep predicted = predict_step(*step, profile);
            return {compare_step(one, *step, predicted, profile),
                    one.question.empty() ? "" : answer_of(predicted),
                    {}};
        }
        if (const auto* run = std::get_if<PublishedCollective>(&one.subject))
            return {compare_collective(one, *run, profile), {}, {}};
        if (const auto* transfer = std::get_if<TransferCase>(&one.subject))
            return {{compare_transfer(one, *transfer, profile)}, {}, {}};
        return {{compare_kernel(one, std::get<KernelCase>(one.subject), profile)}, {}, {}};
    } catch (const InputError& error) {
        if (error.place().starts_with("--"))
            return {{}, {}, fmt::format("{}: {}", error.place(), error.problem())};
        throw InputError(fmt::format("{}: {}", one.place, error.place()), error.problem(), error.remedy());
    }
}

}  // namespace wirewise
