// Peaks of the walk against measured steps: the gate is for kinds of steps, not for rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/memory/stale_bucket.hpp"
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

struct PeakErrors {
    Errors allocated, reserved;
};

PeakErrors errors_of(const std::vector<MeasuredStep>& steps, double most_allocated, double most_reserved) {
    PeakErrors errors;
    for (const MeasuredStep& step : steps) {
        const WalkedPhases walked = nearest_walk(step);
        const double allocated = walked.peak.allocated / step.allocated - 1;
        const double reserved = walked.reserved / step.reserved - 1;
        EXPECT_LT(std::abs(allocated), most_allocated) << step.id << ", " << walked.peak.at;
        EXPECT_LT(std::abs(reserved), most_reserved) << step.id;
        errors.allocated.add(allocated);
        errors.reserved.add(reserved);
    }
    testing::Test::RecordProperty("allocated_mean_percent", std::to_string(100 * errors.allocated.mean()));
    testing::Test::RecordProperty("reserved_mean_percent", std::to_string(100 * errors.reserved.mean()));
    return errors;
}

TEST(Memory, PeaksOfMeasuredSteps) {
    const PeakErrors errors = errors_of(measured_steps(), 0.002, 0.02);
    EXPECT_LT(errors.allocated.mean(), 0.0002);
    EXPECT_LT(errors.reserved.mean(), 0.004);
    EXPECT_EQ(errors.allocated.count, 33);
}

// Sixteen architectures, steps from 27 ms to half a second.
TEST(Memory, PeaksOfSampledStepsOnTwoGpus) {
    const PeakErrors errors = errors_of(sampled_steps("h200-x2"), 0.003, 0.02);
    EXPECT_LT(errors.allocated.mean(), 0.0002);
    EXPECT_LT(errors.reserved.mean(), 0.004);
    EXPECT_GE(errors.allocated.count, 64);
}

// FSDP1. Without its rate limiter the host's lead decides what is reserved, and the walk assumes the longest.
TEST(Memory, PeaksOfFlatParameters) {
    std::vector<MeasuredStep> limited, unlimited;
    for (const MeasuredStep& step : sampled_steps("fsdp1"))
        (step.plan.limit_all_gathers ? limited : unlimited).push_back(step);
    const PeakErrors errors = errors_of(limited, 0.0005, 0.05);
    EXPECT_LT(errors.allocated.mean(), 0.0001);
    EXPECT_LT(errors.reserved.mean(), 0.015);
    EXPECT_EQ(errors.allocated.count, 13);
    EXPECT_EQ(unlimited.size(), 2U);
    for (const MeasuredStep& step : unlimited) {
        const WalkedPhases walked = walk_phases(step.model, step.plan);
        EXPECT_LT(std::abs(walked.peak.allocated / step.allocated - 1), 0.0005) << step.id;
        EXPECT_GT(walked.reserved, step.reserved) << step.id;
    }
}

// Compiled layers under DDP are the worst: Dynamo's splitter is not modelled.
TEST(Memory, PeaksOfSampledStepsOnOneGpu) {
    const PeakErrors errors = errors_of(sampled_steps("h200-x1"), 0.035, 0.13);
    EXPECT_LT(errors.allocated.mean(), 0.0018);
    EXPECT_LT(errors.reserved.mean(), 0.015);
    EXPECT_GE(errors.allocated.count, 59);
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
        EXPECT_GE(nearest_walk(step).peak.allocated, Bytes(bound)) << step.id;
    }
}

// Scores in memory are not what the compiled layer here fuses: memory and time are those of the eager one.
TEST(Memory, AttentionWrittenOutIsNotCompiled) {
    MeasuredStep step = measured_step("nvl-mistral7b-L8-s4096-b1-a1-fsdp-bf16");
    step.model.form.attention = AttentionForm::eager;
    const WalkedPhases eager = walk_phases(step.model, step.plan);
    step.plan.compile = true;
    const WalkedPhases compiled = walk_phases(step.model, step.plan);
    EXPECT_EQ(compiled.peak.allocated, eager.peak.allocated);
    EXPECT_EQ(hash_of(compiled.steady), hash_of(eager.steady));
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
