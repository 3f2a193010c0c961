// Errors of many comparisons in one table: by quantity, and within it by strategy, wire, hardware and source.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/validate/compare.hpp"

namespace wirewise {

struct SummaryLine {
    MeasuredQuantity quantity{};
    std::string group;  // "all", "strategy: ddp", ...
    std::size_t n = 0;
    double median_abs = 0, mean_abs = 0, p90_abs = 0, max_abs = 0;
    double bias = 0;        // median signed error
    double half_width = 0;  // median of the intervals' half widths, relative to the prediction
    std::size_t with_interval = 0, inside = 0;  // of those that state an interval
    double interval_coverage() const;
};

std::vector<SummaryLine> summarize_errors(std::span<const Comparison> comparisons);

}  // namespace wirewise
