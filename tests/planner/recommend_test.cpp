// The rule: the fastest that fits at the pessimistic end; among those whose time intervals overlap its, the
// least memory.
#include "simulator/planner/recommend.hpp"

#include <gtest/gtest.h>

#include "simulator/planner/candidate.hpp"

namespace wirewise {
namespace {

// A candidate of one GPU, 1000 tokens a step, `step` seconds +- 10 %, `gigabytes` of a limit of 80.
PlanCandidate candidate(Strategy strategy, double step, std::int64_t gigabytes, Fit fits = Fit::yes) {
    PlanCandidate one;
    one.plan.strategy = strategy;
    one.plan.sequence_length = 1000;
    one.estimate.reserved = Bytes(gigabytes * 1'000'000'000);
    one.limit = Bytes(80'000'000'000);
    one.intervals.memory = {one.estimate.reserved, one.estimate.reserved};
    one.estimate.time.step = Seconds(step);
    one.intervals.step = {Seconds(step * 0.9), Seconds(step * 1.1)};
    one.throughput.tokens_per_second = tokens_per_second(one.plan, one.estimate.time.step);
    one.fits = fits;
    return one;
}

TEST(Recommend, TheFastestThatFits) {
    const std::vector all{candidate(Strategy::fsdp, 1.0, 20), candidate(Strategy::zero1, 0.5, 60)};
    EXPECT_EQ(recommend(all).index, 1U);
}

TEST(Recommend, LessMemoryWhereIntervalsOverlap) {
    const std::vector all{candidate(Strategy::fsdp, 1.1, 20), candidate(Strategy::zero1, 1.0, 60)};
    const Recommendation chosen = recommend(all);
    EXPECT_EQ(chosen.index, 0U);
    EXPECT_NE(chosen.why.find("intervals overlap"), std::string::npos);
}

TEST(Recommend, WhatDoesNotSurelyFitIsPassedOver) {
    const std::vector all{candidate(Strategy::ddp, 0.1, 90, Fit::no),
                          candidate(Strategy::zero1, 0.2, 79, Fit::tight),
                          candidate(Strategy::fsdp, 1.0, 20)};
    EXPECT_EQ(recommend(all).index, 2U);
}

TEST(Recommend, NothingWhenNothingFits) {
    const std::vector all{candidate(Strategy::ddp, 0.1, 90, Fit::no),
                          candidate(Strategy::fsdp, 0.2, 85, Fit::no)};
    const Recommendation chosen = recommend(all);
    EXPECT_FALSE(chosen.index);
    EXPECT_NE(chosen.why.find("fsdp"), std::string::npos) << "names the one that comes nearest";
}

TEST(Fit, FollowsThePessimisticEnd) {
    const Bytes limit(100);
    EXPECT_EQ(fit_of(limit, Bytes(90), {Bytes(80), Bytes(100)}), Fit::yes);
    EXPECT_EQ(fit_of(limit, Bytes(95), {Bytes(85), Bytes(105)}), Fit::tight);
    EXPECT_EQ(fit_of(limit, Bytes(101), {Bytes(90), Bytes(112)}), Fit::no);
}

TEST(ChanceAbove, IsAHalfAtTheLimitAndFivePercentAtTheEnd) {
    const Interval<Bytes> interval{Bytes(900'000), Bytes(1'100'000)};
    EXPECT_NEAR(chance_above(Bytes(1'000'000), Bytes(1'000'000), interval), 0.5, 1e-9);
    EXPECT_NEAR(chance_above(Bytes(1'100'000), Bytes(1'000'000), interval), 0.05, 1e-3);
    EXPECT_EQ(chance_above(Bytes(10), Bytes(11), {Bytes(11), Bytes(11)}), 1);
}

TEST(ChanceAbove, FollowsTheArmOnTheLimitsSide) {
    const Interval<Bytes> lopsided{Bytes(950'000), Bytes(1'400'000)};
    EXPECT_NEAR(chance_above(Bytes(1'400'000), Bytes(1'000'000), lopsided), 0.05, 1e-3);
    EXPECT_NEAR(chance_above(Bytes(950'000), Bytes(1'000'000), lopsided), 0.95, 1e-3);
}

}  // namespace
}  // namespace wirewise
