#include "tools/calibrate/calibration_report.hpp"

#include <fmt/format.h>

namespace wirewise {

namespace {

Json errors_json(const std::vector<ErrorRow>& rows) {
    Json list = Json::array();
    for (const ErrorRow& row : rows)
        list.push_back({{"quantity", row.kind},
                        {"n", row.n},
                        {"mean_abs", row.mean},
                        {"median_abs", row.median},
                        {"max_abs", row.worst}});
    return list;
}

Json terms_json(const Calibration& calibration) {
    Json list = Json::array();
    for (const FittedTerm& fitted : calibration.terms)
        list.push_back({{"name", fitted.term.pointer},
                        {"value", fitted.value},
                        {"unit", fitted.term.unit.empty() ? "" : fitted.term.unit.substr(1)},
                        {"samples", fitted.samples},
                        {"residual", fitted.residual},
                        {"spread", fitted.spread},
                        {"was", fitted.term.value}});
    return list;
}

Json outliers_json(const Calibration& calibration) {
    Json list = Json::array();
    for (const Outlier& outlier : calibration.outliers)
        list.push_back({{"id", outlier.id}, {"relative_error", outlier.error}});
    return list;
}

Json samples_json(const Calibration& calibration) {
    Json list = Json::array();
    for (const SampleError& sample : calibration.samples)
        list.push_back({{"id", sample.id},
                        {"quantity", sample.kind},
                        {"seconds", sample.seconds},
                        {"before", sample.before},
                        {"fitted", sample.fitted},
                        {"held_out_abs", sample.unseen},
                        {"weight", sample.weight}});
    return list;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

Table errors_table(const Calibration& calibration) {
    Table table{.title = "errors before and after, on samples held out with their whole group",
                .columns = {"<samples", "n", "before, mean", "worst", "after, mean", "worst",
                            "all seen, mean", "worst"},
                .rows = {}};
    for (std::size_t i = 0; i < calibration.before.size(); ++i) {
        const ErrorRow &before = calibration.before[i], &after = calibration.after[i],
                       &seen = calibration.fitted[i];
        table.rows.push_back({before.kind, std::to_string(before.n), percent(before.mean),
                              percent(before.worst), percent(after.mean), percent(after.worst),
                              percent(seen.mean), percent(seen.worst)});
    }
    return table;
}

Table terms_table(const Calibration& calibration) {
    Table table{
        .title = "terms", .columns = {"<term", "was", "is", "<", "+-", "samples", "residual"}, .rows = {}};
    for (const FittedTerm& fitted : calibration.terms)
        table.rows.push_back(
            {fitted.term.pointer, fmt::format("{:.4g}", fitted.term.value),
             fmt::format("{:.4g}", fitted.value), fitted.term.unit.empty() ? "" : fitted.term.unit.substr(1),
             percent(fitted.spread), std::to_string(fitted.samples), percent(fitted.residual)});
    return table;
}

Table outliers_table(const Calibration& calibration) {
    Table table{.title = "samples that do not fit the rest", .columns = {"<sample", "error"}, .rows = {}};
    for (const Outlier& outlier : calibration.outliers)
        table.rows.push_back({outlier.id, fmt::format("{:+.1f} %", 100 * outlier.error)});
    return table;
}

}  // namespace

Report calibration_report(const Calibration& calibration, const std::string& base) {
    Report report{
        .document = {{"schema", "wirewise.calibrate/1"},
                     {"base", base},
                     {"replaced", calibration.refused.empty()},
                     {"refused", calibration.refused.empty() ? Json(nullptr) : Json(calibration.refused)},
                     {"before", errors_json(calibration.before)},
                     {"after", errors_json(calibration.after)},
                     {"fitted", errors_json(calibration.fitted)},
                     {"terms", terms_json(calibration)},
                     {"outliers", outliers_json(calibration)},
                     {"samples", samples_json(calibration)}}};
    report.tables = {errors_table(calibration), terms_table(calibration)};
    if (!calibration.outliers.empty()) report.tables.push_back(outliers_table(calibration));
    report.records = "terms";
    if (!calibration.refused.empty()) {
        report.exit_code = 3;
        report.errors.push_back("the profile is not written: " + calibration.refused);
    }
    return report;
}

}  // namespace wirewise
