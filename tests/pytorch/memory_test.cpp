// Peaks of the walk against measured steps: the gate is for kinds of steps, not for rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/pytorch/measured.hpp"

namespace wirewise {
namespace {

struct Errors {
    double sum = 0, worst = 0;
    int count = 0;
    void add(double error) {
        sum += std::abs(error);
        worst = std::max(worst, std::abs(error));
        ++count;
    }
    double mean() const { return sum / count; }
};

TEST(Memory, PeaksOfMeasuredSteps) {
    Errors allocated, reserved;
    for (const MeasuredStep& step : measured_steps()) {
        if (step.plan.compile) continue;
        const MemoryPeak peak = nearest_peak(step);
        const double allocated_error = peak.allocated / step.allocated - 1;
        const double reserved_error = peak.reserved / step.reserved - 1;
        EXPECT_LT(std::abs(allocated_error), 0.015) << step.id << ", " << peak.at;
        EXPECT_LT(std::abs(reserved_error), 0.04) << step.id;
        allocated.add(allocated_error);
        reserved.add(reserved_error);
    }
    EXPECT_LT(allocated.mean(), 0.002);
    EXPECT_LT(reserved.mean(), 0.01);
    RecordProperty("allocated_mean_percent", std::to_string(100 * allocated.mean()));
    RecordProperty("reserved_mean_percent", std::to_string(100 * reserved.mean()));
    EXPECT_EQ(allocated.count, 30);
}

}  // namespace
}  // namespace wirewise
