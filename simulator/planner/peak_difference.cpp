#include "simulator/planner/peak_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wirewise {

namespace {

struct Row {
    std::string_view name;
    double more = 0;  // bytes
};

std::vector<Row> rows_more(const Estimate& a, const Estimate& b) {
    std::vector<Row> rows;
    for (std::size_t role = 0; role < kRoleCount; ++role)
        rows.push_back({name_of(static_cast<Role>(role)),
                        static_cast<double>((a.peak.breakdown[role] - b.peak.breakdown[role]).count())});
    const auto loose = [](const Estimate& of) {
        return static_cast<double>((of.reserved - of.peak.allocated).count());
    };
    rows.push_back({"fragmentation", loose(a) - loose(b)});
    rows.push_back(
        {"context and communicators", static_cast<double>((a.runtime.total() - b.runtime.total()).count())});
    return rows;
}

// The three largest rows of one sign; those below a tenth of the largest say nothing.
std::string signed_rows(std::vector<Row> rows, bool gains) {
    std::erase_if(rows, [&](const Row& row) { return gains ? row.more <= 0 : row.more >= 0; });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return std::abs(a.more) > std::abs(b.more); });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 3); ++i) {
        if (std::abs(rows[i].more) < 0.1 * std::abs(rows.front().more)) break;
        text += fmt::format("{}{} {:+.{}f} GB", i ? ", " : "", rows[i].name, rows[i].more / 1e9,
                            std::abs(rows[i].more) < 1e8 ? 3 : 1);
    }
    return text.empty() ? "nothing" : text;
}

}  // namespace

std::string why_more(const Estimate& more, const Estimate& less, const std::string& saved) {
    const std::vector<Row> rows = rows_more(more, less);
    return fmt::format("at its peak ({}) {} outweigh {} ({})", more.peak.at, signed_rows(rows, true), saved,
                       signed_rows(rows, false));
}

}  // namespace wirewise
