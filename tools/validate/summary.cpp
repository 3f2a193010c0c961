#include "tools/validate/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace wirewise {

namespace {

// Linear between order statistics.
double quantile(const std::vector<double>& sorted, double share) {
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<std::string> groups_of(const Comparison& one) {
    if (!one.assumed.empty()) return {"apart: " + one.labels.source};
    std::vector<std::string> groups{"all", "source: " + one.labels.source, "strategy: " + one.labels.strategy,
                                    "hardware: " + one.labels.hardware};
    if (!one.profile.empty()) groups.push_back("profile: " + one.profile);
    if (!one.labels.wire.empty()) groups.push_back("wire: " + one.labels.wire);
    if (one.quantity == MeasuredQuantity::step_seconds)
        groups.push_back(one.host_bound ? "bound by: host" : "bound by: GPU");
    return groups;
}

SummaryLine line_of(MeasuredQuantity quantity, const std::string& group,
                    const std::vector<const Comparison*>& members) {
    SummaryLine line{.quantity = quantity, .group = group, .n = members.size()};
    std::vector<double> signed_errors, errors, widths;
    for (const Comparison* one : members) {
        signed_errors.push_back(one->relative_error());
        errors.push_back(std::abs(signed_errors.back()));
        line.mean_abs += errors.back() / static_cast<double>(members.size());
        line.with_interval += one->interval.has_value();
        line.inside += one->inside();
        if (one->interval && one->predicted > 0)
            widths.push_back((one->interval->second - one->interval->first) / 2 / one->predicted);
    }
    std::ranges::sort(errors);
    std::ranges::sort(widths);
    if (!widths.empty()) line.half_width = quantile(widths, 0.5);
    std::ranges::sort(signed_errors);
    line.median_abs = quantile(errors, 0.5);
    line.p90_abs = quantile(errors, 0.9);
    line.max_abs = errors.back();
    line.bias = quantile(signed_errors, 0.5);
    return line;
}

}  // namespace

double SummaryLine::interval_coverage() const {
    return with_interval == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(with_interval);
}

std::vector<SummaryLine> summarize_errors(std::span<const Comparison> comparisons) {
    std::map<std::pair<MeasuredQuantity, std::string>, std::vector<const Comparison*>> groups;
    for (const Comparison& one : comparisons)
        for (const std::string& group : groups_of(one)) groups[{one.quantity, group}].push_back(&one);
    std::vector<SummaryLine> lines;
    for (const auto& [key, members] : groups) lines.push_back(line_of(key.first, key.second, members));
    return lines;
}

}  // namespace wirewise
