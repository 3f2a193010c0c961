// Intervals come from the profile's residuals, and are wider where the plan lies outside of what was
// measured.
#include "simulator/planner/interval.hpp"

#include <gtest/gtest.h>

#include "model/topology/import.hpp"
#include "simulator/planner/candidate.hpp"

namespace wirewise {
namespace {

class IntervalTest : public testing::Test {
  protected:
    IntervalTest() {
        profile_.gpu = "h200-sxm";
        profile_.measured = true;
        profile_.widths.step["pytorch"] = {{0.02, {}}, {0.2, {}}, {0.05, {}}, {1024, 32768}, {512, 16384}};
        profile_.widths.memory["pytorch"] = {{0.001, {}}, {0.01, {}}, {0.02, {}}, {0.6, {}}};
        profile_.widths.memory["other"] = {{0.03, {}}, {0.05, {}}, {0.1, {}}, {1, {}}};
        plan_.runtime = Runtime::pytorch;
        plan_.recompute = Recompute::none;
        plan_.loss_chunk = 0;
        estimate_.peak.allocated = estimate_.reserved = Bytes(60'000'000'000);
        estimate_.time.step = Seconds(1);
    }
    Intervals intervals() const { return intervals_of(estimate_, plan_, site_); }
    double step_half() const { return intervals().step.hi.value() - 1; }

    std::vector<std::string> notes_;
    const Machine machine_ = load_machine("h200-x2", {}, notes_);
    const NcclEnvironment environment_;
    CostProfile profile_;
    ParallelPlan plan_;
    Estimate estimate_;
    const Site site_{machine_, environment_, profile_, nullptr, {0, 1}};
};

TEST_F(IntervalTest, InsideOfWhatWasMeasured) {
    EXPECT_NEAR(step_half(), 0.02, 1e-9);
    EXPECT_EQ(intervals().memory.hi, Bytes(61'200'000'000));
    EXPECT_EQ(intervals().allocated.hi, Bytes(60'060'000'000));
    EXPECT_EQ(intervals().reserved.lo, Bytes(59'400'000'000));
}

TEST_F(IntervalTest, WiderOutside) {
    plan_.sequence_length = 131072;
    EXPECT_NEAR(step_half(), 0.05, 1e-9);
    EXPECT_NE(intervals().step_origin.find("outside of what was measured"), std::string::npos);
    plan_.sequence_length = 4096;
    plan_.runtime = Runtime::deepspeed;
    EXPECT_NEAR(step_half(), 0.05, 1e-9);
    EXPECT_EQ(intervals().memory.hi, Bytes(66'000'000'000));
}

TEST_F(IntervalTest, WiderForScriptsOfOthers) {
    profile_.widths.memory["published"] = {{0.007, {}}, {0.02, {}}, {0.03, {}}, {1, {}}};
    plan_.loss.keeps_logits = true;
    EXPECT_EQ(intervals().allocated.hi, Bytes(60'420'000'000));
    plan_.loss.keeps_logits = false;
    plan_.recompute = Recompute::selective;
    EXPECT_EQ(intervals().allocated.hi, Bytes(60'420'000'000));
    plan_.recompute = Recompute::full;
    EXPECT_EQ(intervals().allocated.hi, Bytes(60'060'000'000));
}

TEST_F(IntervalTest, WiderForAnotherGpu) {
    profile_.gpu = "h100-sxm";
    EXPECT_NEAR(step_half(), 0.05, 1e-9);
    EXPECT_EQ(intervals().memory.hi, Bytes(66'000'000'000));
}

TEST_F(IntervalTest, WiderForHostBoundSteps) {
    estimate_.time.host_bound = true;
    EXPECT_NEAR(step_half(), 0.2, 1e-9);
}

TEST_F(IntervalTest, ExposedTimeOnWiresThatWereNotMeasuredCounts) {
    CollectiveUse use;
    use.seconds = Seconds(0.5);
    use.measured = false;
    use.spread = 1.4;
    estimate_.collectives = {use};
    estimate_.time.exposed_communication = Seconds(0.25);
    EXPECT_NEAR(step_half(), std::hypot(0.02, 0.25 * 0.4), 1e-9);
    estimate_.collectives.front().measured = true;
    EXPECT_NEAR(step_half(), 0.02, 1e-9);
}

// Samples of sockets are an hour's: those wires do not keep their speed.
TEST_F(IntervalTest, MeasuredSocketsDrift) {
    CollectiveUse use;
    use.seconds = Seconds(0.5);
    estimate_.collectives = {use};
    estimate_.time.exposed_communication = Seconds(0.5);
    estimate_.runtime.transport = "p2p";
    EXPECT_NEAR(step_half(), 0.02, 1e-9);
    estimate_.runtime.transport = "net";
    EXPECT_NEAR(step_half(), std::hypot(0.02, 0.5 * 0.28), 1e-9);
}

// A run must survive every outcome of the race for DDP's first bucket (see StaleBucket); the chance of
// running out of memory weighs each by how often it happens.
TEST_F(IntervalTest, HoldEveryOutcomeOfARace) {
    const Intervals alone = intervals();
    estimate_.others = {{Bytes(55'000'000'000), Bytes(55'000'000'000)},
                        {Bytes(75'000'000'000), Bytes(75'000'000'000)}};
    const Intervals raced = intervals();
    EXPECT_EQ(raced.memory.lo, Bytes(53'900'000'000));
    EXPECT_EQ(raced.memory.hi, Bytes(76'500'000'000));
    const Bytes limit(70'000'000'000);
    EXPECT_EQ(fit_of(limit, estimate_.device_used(), raced.memory), Fit::tight);
    EXPECT_NEAR(chance_above(limit, alone), 0, 1e-6);
    EXPECT_NEAR(chance_above(limit, raced), 0.2, 1e-3);
}

// Under FSDP1 what is reserved depends on the host's lead: anything down to what is allocated.
TEST_F(IntervalTest, ReachDownToWhatIsAllocatedUnderFsdp1) {
    plan_.runtime = Runtime::pytorch;
    plan_.strategy = Strategy::fsdp;
    plan_.fsdp_version = 1;
    estimate_.peak.allocated = Bytes(50'000'000'000);
    const Intervals flat = intervals();
    EXPECT_EQ(flat.memory.lo, estimate_.peak.allocated + estimate_.runtime.total());
    EXPECT_EQ(flat.reserved.lo, estimate_.peak.allocated);
    EXPECT_GE(flat.memory.hi - estimate_.device_used(), estimate_.device_used() / 51);
}

// What the allocator only caches does not decide whether memory runs out.
TEST_F(IntervalTest, WhatIsCachedIsGivenBackBeforeMemoryRunsOut) {
    const Bytes limit = estimate_.device_used() - Bytes(1'000'000'000);
    EXPECT_EQ(fit_of(estimate_, limit, intervals().memory), Fit::no);
    EXPECT_GT(chance_above(limit, intervals()), 0.5);
    estimate_.spare = Bytes(5'000'000'000);
    EXPECT_EQ(intervals().memory.hi, intervals().outcomes.front().interval.hi);
    EXPECT_EQ(fit_of(estimate_, limit, intervals().memory), Fit::tight);
    EXPECT_LT(chance_above(limit, intervals()), 0.01);
}

}  // namespace
}  // namespace wirewise
