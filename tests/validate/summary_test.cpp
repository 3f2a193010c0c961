#include "tools/validate/summary.hpp"

#include <gtest/gtest.h>

namespace wirewise::test {
namespace {

Comparison step(double predicted, double measured, const char* source,
                std::vector<std::string> assumed = {}) {
    Comparison one{
        .id = "x", .labels = {source, "box", "p2p", "ddp"}, .quantity = MeasuredQuantity::step_seconds};
    one.predicted = predicted, one.measured = measured, one.assumed = std::move(assumed);
    one.interval = {0.9 * predicted, 1.1 * predicted};
    return one;
}

const SummaryLine& line(const std::vector<SummaryLine>& lines, const std::string& group) {
    for (const SummaryLine& one : lines)
        if (one.group == group) return one;
    throw std::out_of_range(group);
}

TEST(Summary, QuantilesCoverageAndGroups) {
    const std::vector<Comparison> all{step(1.1, 1, "a"), step(0.8, 1, "a"), step(1.3, 1, "b"),
                                      step(9, 1, "c", {"no batch"})};
    const auto lines = summarize_errors(all);
    const SummaryLine& whole = line(lines, "all");
    EXPECT_EQ(whole.n, 3u);  // what rests on an assumption stands apart
    EXPECT_NEAR(whole.median_abs, 0.2, 1e-12);
    EXPECT_NEAR(whole.mean_abs, 0.2, 1e-12);
    EXPECT_NEAR(whole.p90_abs, 0.28, 1e-12);
    EXPECT_NEAR(whole.max_abs, 0.3, 1e-12);
    EXPECT_NEAR(whole.bias, 0.1, 1e-12);
    EXPECT_NEAR(whole.interval_coverage(), 1.0 / 3, 1e-12);
    EXPECT_NEAR(whole.half_width, 0.1, 1e-12);
    EXPECT_EQ(line(lines, "source: a").n, 2u);
    EXPECT_EQ(line(lines, "apart: c").n, 1u);
}

TEST(Summary, OutOfMemoryIsRightOrWrong) {
    Comparison one{.quantity = MeasuredQuantity::oom};
    one.predicted = 1, one.measured = 0;
    EXPECT_DOUBLE_EQ(one.relative_error(), 1);
    one.measured = 1;
    EXPECT_DOUBLE_EQ(one.relative_error(), 0);
}

}  // namespace
}  // namespace wirewise::test
