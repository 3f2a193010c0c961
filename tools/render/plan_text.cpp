#include "tools/render/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/units/text.hpp"
#include "simulator/planner/candidate.hpp"
#include "simulator/planner/surprises.hpp"
#include "tools/render/money.hpp"
#include "tools/render/plan_json.hpp"

namespace wirewise {

namespace {

std::string gigabytes(Bytes amount) {
    return fmt::format("{:.2f}", static_cast<double>(amount.count()) / 1e9);
}

std::string short_list(const std::vector<int>& gpus) {
    constexpr std::size_t kShown = 8;
    if (gpus.size() <= kShown) return fmt::format("{}", fmt::join(gpus, ","));
    return fmt::format("{} GPUs", gpus.size());
}

Table ranking(const Inputs& inputs, const Answer& answer) {
    Table table{
        "",
        {"<strategy", "<GPUs", "<fits", "memory GB", "step ms", "tokens/s", "per GPU", "MFU %", "x single"},
        {},
        -1};
    if (inputs.tokens_total > 0) table.columns.push_back("whole job");
    for (const PlanCandidate& candidate : answer.candidates) {
        const Throughput& throughput = candidate.throughput;
        table.rows.push_back({std::string(name_of(candidate.plan.strategy)), short_list(candidate.gpus),
                              std::string(name_of(candidate.fits)),
                              gigabytes(candidate.estimate.device_used()),
                              fmt::format("{:.1f}", candidate.estimate.time.step.value() * 1e3),
                              fmt::format("{:.0f}", throughput.tokens_per_second),
                              fmt::format("{:.0f}", throughput.tokens_per_second_per_gpu),
                              fmt::format("{:.1f}", 100 * throughput.mfu),
                              fmt::format("{:.2f}", throughput.speedup_over_single)});
        if (inputs.tokens_total > 0) table.rows.back().push_back(to_text(job_of(inputs, candidate)));
    }
    if (answer.recommended) table.marked_row = static_cast<int>(*answer.recommended);
    return table;
}

Table memory_rows(const Answer& answer) {
    Table table{"Memory at the peak, GB per GPU (rows add up to the last)", {"<row"}, {}, -1};
    std::vector<Json> columns;
    for (const PlanCandidate& candidate : answer.candidates) {
        table.columns.emplace_back(name_of(candidate.plan.strategy));
        columns.push_back(memory_breakdown_json(candidate.estimate));
    }
    for (const auto& [row, first] : columns.front().items()) {
        std::vector<std::string> cells{row};
        std::int64_t most = 0;  // a row that nobody has is left out
        for (const Json& breakdown : columns) {
            const auto bytes = breakdown.at(row).get<std::int64_t>();
            most = std::max(most, bytes);
            cells.push_back(gigabytes(Bytes(bytes)));
        }
        if (most > 0) table.rows.push_back(std::move(cells));
    }
    std::vector<std::string> sums{"device use"}, limits{"of"};
    for (const PlanCandidate& candidate : answer.candidates) {
        sums.push_back(gigabytes(candidate.estimate.device_used()));
        limits.push_back(gigabytes(candidate.limit));
    }
    table.rows.push_back(std::move(sums));
    table.rows.push_back(std::move(limits));
    return table;
}

std::string headline(const Inputs& inputs) {
    const Question& question = inputs.question;
    const ParallelPlan& plan = question.plan;
    return fmt::format("{}: {} parameters; sequence {}, micro-batch {}, accumulation {}; {} runtime; {} ({})",
                       question.model.name, with_commas(question.model.parameters()), plan.sequence_length,
                       plan.micro_batch, plan.gradient_accumulation, name_of(plan.runtime),
                       question.machine.name, inputs.placement);
}

void explain(const PlanCandidate& candidate, std::vector<std::string>& lines) {
    lines.push_back(fmt::format("{}: peak in {}; {}", name_of(candidate.plan.strategy),
                                candidate.estimate.peak.at, candidate.bottleneck));
    const HostMemory& host = candidate.estimate.host;
    if (fit_of(host) != Fit::yes)
        lines.push_back(fmt::format("  host memory: {} of {} in {}: {}", to_text(host.peak),
                                    to_text(host.limit), name_of(host.phase), host.why));
    if (candidate.fits == Fit::yes || !candidate.overflow) return;
    if (candidate.estimate.device_used() > candidate.limit && candidate.fits == Fit::tight)
        lines.push_back(
            fmt::format("  fits by what the allocator caches and gives back when the device is full, at the "
                        "price of time: {} is the least",
                        to_text(candidate.estimate.least_used())));
    if (candidate.overflow->short_by > Bytes(0))
        lines.push_back(fmt::format("  short by {} at {}: {}", to_text(candidate.overflow->short_by),
                                    candidate.overflow->at, candidate.overflow->buffer));
    for (const Remedy& remedy : candidate.remedies)
        lines.push_back(fmt::format("  {}: {} ({}), step {}", remedy.option, to_text(remedy.peak),
                                    remedy.fits == Fit::yes     ? "fits"
                                    : remedy.fits == Fit::tight ? "tight"
                                                                : "still too much",
                                    to_text(remedy.step)));
}

}  // namespace

Report plan_report(const Inputs& inputs, const Answer& answer) {
    Report report;
    report.document = plan_document(inputs, answer);
    report.records = "candidates";
    report.warnings = inputs.warnings;
    report.before.push_back(headline(inputs));
    report.tables = {ranking(inputs, answer), memory_rows(answer)};
    for (const PlanCandidate& candidate : answer.candidates) explain(candidate, report.after);
    report.after.push_back(fmt::format(
        "MFU against the dense {} peak of {}; times from profile {}{}; x single: against one GPU{}",
        name_of(inputs.question.plan.precision.compute), to_text(answer.candidates.front().throughput.peak),
        inputs.question.profile.name, inputs.question.profile.measured ? " (measured)" : "",
        answer.single.fits == Fit::yes     ? ""
        : answer.single.fits == Fit::tight ? ", where it may not fit"
                                           : ", where it would not fit"));
    for (const DefaultedKey& key : inputs.question.model.defaulted_keys)
        report.after.push_back(
            fmt::format("config: {} was absent, taken as {} ({})", key.key, key.value, key.from));
    for (const auto& note : inputs.question.model.notes) report.after.push_back("note: " + note);
    for (const std::string& surprise : surprises_of(answer)) report.after.push_back("note: " + surprise);
    report.after.push_back((answer.recommended ? "recommended: " : "") + answer.why);
    report.exit_code = answer.recommended ? 0 : 3;
    return report;
}

}  // namespace wirewise
