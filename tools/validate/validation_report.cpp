#include "tools/validate/validation_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "model/units/text.hpp"
#include "tools/validate/summary.hpp"

namespace wirewise {

namespace {

Json summary_json(const SummaryLine& line) {
    return {{"quantity", name_of(line.quantity)},
            {"group", line.group},
            {"n", line.n},
            {"median_abs", line.median_abs},
            {"mean_abs", line.mean_abs},
            {"p90_abs", line.p90_abs},
            {"max_abs", line.max_abs},
            {"median_signed", line.bias},
            {"median_half_width", line.with_interval ? Json(line.half_width) : Json(nullptr)},
            {"interval_coverage", line.with_interval ? Json(line.interval_coverage()) : Json(nullptr)}};
}

std::string percent(double value, int digits = 1) { return fmt::format("{:.{}f} %", 100 * value, digits); }

std::vector<std::string> summary_row(const SummaryLine& line) {
    const int digits = line.quantity <= MeasuredQuantity::device_used_bytes ? 2 : 1;
    return {std::string(name_of(line.quantity)),
            line.group,
            fmt::format("{}", line.n),
            percent(line.median_abs, digits),
            percent(line.mean_abs, digits),
            percent(line.p90_abs, digits),
            percent(line.max_abs, digits),
            fmt::format("{:+.{}f} %", 100 * line.bias, digits),
            line.with_interval ? percent(line.interval_coverage(), 0) : "-",
            line.with_interval && !is_verdict(line.quantity) ? percent(line.half_width, digits) : "-"};
}

// Groups that hold every case of their quantity say nothing new.
bool says_more(const SummaryLine& line, const std::vector<SummaryLine>& lines) {
    const auto whole = std::ranges::find_if(lines, [&](const SummaryLine& other) {
        return other.quantity == line.quantity && other.group == "all";
    });
    return line.group == "all" || whole == lines.end() || line.n != whole->n;
}

Table summary_table(const std::vector<SummaryLine>& lines) {
    Table table{"",
                {"<quantity", "<group", "cases", "median", "mean", "90th", "worst", "bias", "in interval",
                 "half width"},
                {},
                -1};
    for (const SummaryLine& line : lines)
        if (says_more(line, lines)) table.rows.push_back(summary_row(line));
    return table;
}

std::string value_text(const Comparison& one, double value) {
    switch (one.quantity) {
        case MeasuredQuantity::peak_allocated_bytes:
        case MeasuredQuantity::peak_reserved_bytes:
        case MeasuredQuantity::device_used_bytes:
        case MeasuredQuantity::host_bytes:
            return to_text(Bytes(std::llround(value)));
        case MeasuredQuantity::busbw:
            return to_text(BytesPerSecond(value));
        case MeasuredQuantity::step_ratio:
            return fmt::format("{:.2f} times", value);
        case MeasuredQuantity::oom:
        case MeasuredQuantity::host_oom:
            return value > 0.5 ? "out of memory" : "fits";
        default:
            return to_text(Seconds(value));
    }
}

// The cases farthest off, of each quantity.
Table worst_table(const std::vector<Comparison>& comparisons) {
    constexpr std::size_t kShown = 5;
    Table table{"farthest off", {"<id", "<quantity", "predicted", "measured", "error"}, {}, -1};
    std::vector<const Comparison*> sorted;
    for (const Comparison& one : comparisons) sorted.push_back(&one);
    std::ranges::stable_sort(sorted, [](const Comparison* a, const Comparison* b) {
        return std::pair(a->quantity, -std::abs(a->relative_error())) <
               std::pair(b->quantity, -std::abs(b->relative_error()));
    });
    std::size_t shown = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const Comparison& one = *sorted[i];
        shown = i > 0 && sorted[i - 1]->quantity == one.quantity ? shown + 1 : 0;
        if (shown >= kShown || one.relative_error() == 0) continue;
        table.rows.push_back({one.id, std::string(name_of(one.quantity)), value_text(one, one.predicted),
                              value_text(one, one.measured),
                              fmt::format("{:+.1f} %", 100 * one.relative_error())});
    }
    return table;
}

Table left_out_table(const Validation& validation) {
    Table table{"left out", {"<reason", "cases"}, {}, -1};
    for (const auto& [reason, count] : reasons_of(validation))
        table.rows.push_back({reason, fmt::format("{}", count)});
    return table;
}

Json left_out_json(const Validation& validation) {
    Json all = Json::array();
    for (const LeftOut& one : validation.left_out)
        all.push_back({{"id", one.id}, {"place", one.place}, {"source", one.source}, {"reason", one.reason}});
    return all;
}

}  // namespace

Json case_json(const Comparison& one) {
    Json json{{"id", one.id},
              {"source", one.labels.source},
              {"strategy", one.labels.strategy},
              {"wire", one.labels.wire},
              {"hardware", one.labels.hardware},
              {"profile", one.profile},
              {"quantity", name_of(one.quantity)},
              {"predicted", one.predicted},
              {"measured", one.measured},
              {"relative_error", one.relative_error()},
              {"interval", nullptr},
              {"inside", nullptr}};
    if (one.interval) {
        json["interval"] = {one.interval->first, one.interval->second};
        json["inside"] = one.inside();
    }
    if (one.quantity == MeasuredQuantity::step_seconds) json["host_bound"] = one.host_bound;
    if (!one.assumed.empty()) json["assumed"] = one.assumed;
    return json;
}

Table comparison_table(const std::vector<Comparison>& comparisons) {
    Table table{
        "predicted against measured", {"<quantity", "predicted", "measured", "error", "in interval"}, {}, -1};
    for (const Comparison& one : comparisons)
        table.rows.push_back({std::string(name_of(one.quantity)), value_text(one, one.predicted),
                              value_text(one, one.measured),
                              fmt::format("{:+.2f} %", 100 * one.relative_error()),
                              !one.interval  ? "-"
                              : one.inside() ? "yes"
                                             : "no"});
    return table;
}

namespace {

Json answers_json(const Validation& validation) {
    Json all = Json::array();
    for (const UserAnswer& one : validation.answers)
        all.push_back({{"id", one.id},
                       {"question", one.question},
                       {"answer", one.answer},
                       {"assumed", one.assumed},
                       {"compared", one.compared}});
    return all;
}

Table answers_table(const Validation& validation) {
    Table table{"what users asked", {"<id", "<question", "<answer", "<compared", "<assumed"}, {}, -1};
    for (const UserAnswer& one : validation.answers)
        table.rows.push_back({one.id, one.question, one.answer, one.compared ? "yes" : "no",
                              fmt::format("{}", fmt::join(one.assumed, "; "))});
    return table;
}

}  // namespace

Report validation_report(const Validation& validation) {
    Report report;
    const auto lines = summarize_errors(validation.comparisons);
    report.document = {
        {"schema", "wirewise.validate/1"}, {"cases", Json::array()}, {"summary", Json::array()}};
    for (const Comparison& one : validation.comparisons) report.document["cases"].push_back(case_json(one));
    for (const SummaryLine& line : lines) report.document["summary"].push_back(summary_json(line));
    report.document["left_out"] = left_out_json(validation);
    report.document["answers"] = answers_json(validation);
    for (const LeftOut& one : validation.left_out)
        if (one.source == "measured" && one.reason.starts_with("--"))
            report.warnings.push_back(fmt::format("{}: left out: {}", one.place, one.reason));
    report.records = "cases";
    report.before.push_back(fmt::format("{} cases, {} left out, {} quantities compared", validation.cases,
                                        validation.left_out.size(), validation.comparisons.size()));
    report.tables.push_back(summary_table(lines));
    report.tables.push_back(worst_table(validation.comparisons));
    if (!validation.answers.empty()) report.tables.push_back(answers_table(validation));
    if (!validation.left_out.empty()) report.tables.push_back(left_out_table(validation));
    return report;
}

Report accuracy_page(const Validation& validation, const std::string& command) {
    Report report = validation_report(validation);
    report.before.insert(
        report.before.begin(),
        {"# How far the predictions are off",
         "Every committed case, predicted on the path of `wirewise plan` and compared with what was "
         "measured. "
         "`measured` cases ran on our machine, whose profile is fitted to them; all others are published "
         "runs, "
         "predicted from data sheets alone. What their words mean is data: calibration/cases/conventions. "
         "A row is left out for what it states, never for its error. `bias` is the median signed error; "
         "`in interval` the share inside the 90 % interval that the planner states, `half width` the median "
         "half of "
         "its width, relative to the prediction. Rows `apart` rest on something that their source does not "
         "state.",
         "Written by:", "```sh\n" + command + "\n```"});
    return report;
}

}  // namespace wirewise
