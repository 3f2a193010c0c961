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
    EXPECT_EQ(allocated.count, 33);
}

// Closed forms of what is alive at the start of backward are a lower bound: states, activations of all
// layers, and 12 bytes per logit.
TEST(Memory, NeverBelowTheClosedForm) {
    for (const MeasuredStep& step : measured_steps()) {
        const ParallelPlan& plan = step.plan;
        if (plan.compile || plan.recompute != Recompute::none) continue;
        const AttentionShape& attention = step.model.layer(0).attention;
        const std::int64_t tokens = plan.tokens_per_micro_batch();
        const std::int64_t per_token = 16 * step.model.hidden + 4 * attention.query_width() +
                                       4 * attention.key_width() + 8 * step.model.layer(0).mlp.intermediate;
        const std::int64_t states = 3 * size_of(plan.precision.parameter) * step.model.parameters();
        const bool sharded = sharding_of(plan.strategy).parameters || sharding_of(plan.strategy).gradients;
        const std::int64_t kept = sharded                            ? states / plan.mesh.shard
                                  : plan.strategy == Strategy::zero1 ? states * 2 / 3
                                                                     : states;
        const std::int64_t bound =
            kept + tokens * (step.model.layer_count() * per_token + 12 * step.model.vocabulary);
        EXPECT_GE(nearest_peak(step).allocated, Bytes(bound)) << step.id;
    }
}

// Which state the race ends in, for the measured runs that the rule sorts (parameters, seconds of
// broadcasts).
TEST(Memory, LikelyStaleBucket) {
    const auto state = [](std::int64_t parameters, double broadcasts) {
        return likely_stale_bucket(Bytes(4 * parameters), Seconds(broadcasts));
    };
    EXPECT_EQ(state(2'007'044'096, 0), StaleBucket::freed_in_backward);          // 8 layers, DDP
    EXPECT_EQ(state(7'241'732'096, 0), StaleBucket::freed_at_buffer_broadcast);  // 32 layers, DDP
    EXPECT_EQ(state(3'687'162'880, 0), StaleBucket::freed_in_backward);          // wide, DDP
    EXPECT_EQ(state(1'003'522'048, 0.160),
              StaleBucket::freed_at_buffer_broadcast);  // ZeRO-1 over host memory
}

}  // namespace
}  // namespace wirewise
