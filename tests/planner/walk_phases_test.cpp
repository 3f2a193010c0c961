// Phases that are lowered once must be the same program, op for op.
#include "simulator/planner/walk_phases.hpp"

#include <gtest/gtest.h>

#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

struct Case {
    Runtime runtime;
    Strategy strategy;
};

void PrintTo(const Case& one, std::ostream* out) {
    *out << name_of(one.runtime) << ' ' << name_of(one.strategy);
}

class Phases : public testing::TestWithParam<Case> {
  protected:
    ParallelPlan plan() const {
        ParallelPlan plan;
        plan.runtime = GetParam().runtime;
        plan.strategy = GetParam().strategy;
        plan.mesh = mesh_for(plan.strategy, plan.strategy == Strategy::single ? 1 : 4, 2);
        plan.recompute = plan.runtime == Runtime::native ? Recompute::pointwise : Recompute::none;
        plan.sequence_length = 512;
        return plan;
    }
    Transformer model = load_model("mistral-7b", {"num_hidden_layers=3"});
};

TEST_P(Phases, RepeatedOnesAreTheSameProgram) {
    for (const auto& [before, phase] : {std::pair(Phase::first_step, Phase::second_step),
                                        std::pair(Phase::second_step, Phase::steady_step)}) {
        if (!repeats_previous_phase(plan(), phase)) continue;
        StepProgram earlier = lower(model, plan(), before), later = lower(model, plan(), phase);
        earlier.phase = later.phase;
        EXPECT_EQ(to_text(earlier), to_text(later));
    }
}

TEST_P(Phases, PeakIsTheHighestOfAllAndItsRowsAddUp) {
    const WalkedPhases walked = walk_phases(model, plan());
    Bytes highest, sum;
    for (const PhasePeak& phase : walked.phases) highest = std::max(highest, phase.peak.allocated);
    for (const Bytes row : walked.peak.breakdown) sum += row;
    EXPECT_EQ(walked.peak.allocated, highest);
    EXPECT_EQ(sum, walked.peak.allocated);
    EXPECT_GE(walked.reserved, walked.peak.allocated);
}

TEST_P(Phases, LongAccumulationsPeakWhereTheWholeProgramDoes) {
    ParallelPlan whole = plan();
    whole.gradient_accumulation = kWalkedMicroBatches + 3;
    MemoryWalk walk(whole.runtime == Runtime::native ? make_arena() : make_caching_allocator());
    for (const Phase phase : {Phase::load, Phase::first_step, Phase::second_step, Phase::steady_step})
        walk.run(lower(model, whole, phase));
    const WalkedPhases walked = walk_phases(model, whole);
    EXPECT_EQ(walked.peak.allocated, walk.peak().allocated);
    EXPECT_EQ(walked.peak.at, walk.peak().at);
}

// A full device leaves at least what is allocated, and no more than the allocator holds when it caches
// freely.
TEST_P(Phases, TheLeastLiesBetweenAllocatedAndReserved) {
    const WalkedPhases walked = walk_phases(model, plan());
    const Bytes least = least_reserved(model, plan());
    EXPECT_GE(least, walked.peak.allocated);
    if (plan().runtime != Runtime::native) EXPECT_LE(least, walked.reserved);  // the arena caches nothing
}

TEST_P(Phases, FirstOverflowNamesABufferJustBelowThePeak) {
    const WalkedPhases walked = walk_phases(model, plan());
    EXPECT_TRUE(first_overflow(model, plan(), walked.peak.allocated).at.empty());
    EXPECT_FALSE(first_overflow(model, plan(), walked.peak.allocated - Bytes(1)).at.empty());
    EXPECT_EQ(first_overflow(model, plan(), Bytes(1)).phase, Phase::load);
}

INSTANTIATE_TEST_SUITE_P(
    All, Phases,
    testing::Values(Case{Runtime::native, Strategy::single}, Case{Runtime::native, Strategy::ddp},
                    Case{Runtime::native, Strategy::zero1}, Case{Runtime::native, Strategy::zero2},
                    Case{Runtime::native, Strategy::fsdp},
                    Case{Runtime::native, Strategy::fsdp_shard_grad_op},
                    Case{Runtime::native, Strategy::hsdp}, Case{Runtime::pytorch, Strategy::single},
                    Case{Runtime::pytorch, Strategy::ddp}, Case{Runtime::pytorch, Strategy::zero1},
                    Case{Runtime::pytorch, Strategy::fsdp},
                    Case{Runtime::pytorch, Strategy::fsdp_shard_grad_op},
                    Case{Runtime::pytorch, Strategy::hsdp}));

}  // namespace
}  // namespace wirewise
