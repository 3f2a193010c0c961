// Every program of every strategy is sound, in every phase and with every option that changes its shape.
#include "model/program/verify.hpp"

#include <gtest/gtest.h>

#include "model/strategy/pytorch/lower_pytorch.hpp"
#include "tests/pytorch/measured.hpp"

namespace wirewise {
namespace {

constexpr std::array kPhases{Phase::load,        Phase::first_step, Phase::second_step,
                             Phase::steady_step, Phase::evaluation, Phase::save};
constexpr std::array kStrategies{
    Strategy::single, Strategy::ddp, Strategy::zero1, Strategy::fsdp, Strategy::fsdp_shard_grad_op,
    Strategy::hsdp};

Transformer small_model(const char* like) {
    Transformer model = measured_step(like).model;
    model.layers.resize(3);
    return model;
}

ParallelPlan plan_for(Strategy strategy) {
    ParallelPlan plan;
    plan.runtime = Runtime::pytorch;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, strategy == Strategy::single ? 1 : 4, 2);
    plan.sequence_length = 256;
    plan.recompute = Recompute::none;
    return plan;
}

void expect_sound(const Transformer& model, const ParallelPlan& plan) {
    for (const Phase phase : kPhases) {
        const std::vector<Fault> faults = verify(lower_pytorch(model, plan, phase));
        if (!faults.empty())
            ADD_FAILURE() << name_of(plan.strategy) << " " << name_of(phase) << ": " << faults.size()
                          << " faults, first: " << faults.front().text;
    }
}

TEST(Verify, EveryStrategyAndPhase) {
    const Transformer model = small_model("nvl-qwen3_4b-L36-s4096-b1-a1-fsdp-bf16");
    for (const Strategy strategy : kStrategies) expect_sound(model, plan_for(strategy));
}

TEST(Verify, Accumulation) {
    const Transformer model = small_model("nvl-qwen25_1p5b-L28-s4096-b2-a1-fsdp-bf16");
    for (const Strategy strategy : kStrategies)
        for (const bool no_sync : {true, false}) {
            ParallelPlan plan = plan_for(strategy);
            plan.gradient_accumulation = 3;
            plan.no_sync = no_sync;
            expect_sound(model, plan);
        }
}

TEST(Verify, PrecisionRecomputeClippingForeach) {
    const Transformer model = small_model("nvl-mistral7b-L8-s4096-b1-a1-single-bf16");
    for (const Strategy strategy : kStrategies) {
        ParallelPlan plan = plan_for(strategy);
        plan.precision.parameter = plan.precision.gradient = plan.precision.reduce = DType::fp32;
        plan.recompute = Recompute::full;
        plan.clip_gradients = true;
        plan.optimizer = OptimizerKind::adamw_foreach;
        plan.gradient_as_bucket_view = false;
        expect_sound(model, plan);
    }
}

TEST(Verify, OffloadToTheHost) {
    const Transformer model = small_model("nvl-mistral7b-L8-s4096-b1-a1-single-bf16");
    for (const Strategy strategy : {Strategy::fsdp, Strategy::fsdp_shard_grad_op, Strategy::hsdp})
        for (const DType stored : {DType::bf16, DType::fp32})
            for (const bool no_sync : {true, false}) {
                ParallelPlan plan = plan_for(strategy);
                plan.offload = {.optimizer = true, .parameters = true};
                plan.precision.parameter = stored;
                plan.gradient_accumulation = 3;
                plan.no_sync = no_sync;
                plan.clip_gradients = no_sync;
                expect_sound(model, plan);
            }
}

TEST(Verify, FlatParameters) {
    const Transformer model = small_model("nvl-mistral7b-L8-s4096-b1-a1-single-bf16");
    for (const Strategy strategy : {Strategy::fsdp, Strategy::fsdp_shard_grad_op, Strategy::hsdp})
        for (const DType stored : {DType::bf16, DType::fp32})
            for (const bool variant : {true, false}) {
                ParallelPlan plan = plan_for(strategy);
                plan.fsdp_version = 1;
                plan.precision.parameter = plan.precision.reduce = stored;
                plan.gradient_accumulation = 2;
                plan.no_sync = plan.limit_all_gathers = plan.use_orig_params = plan.clip_gradients = variant;
                plan.recompute = variant ? Recompute::full : Recompute::none;
                plan.precision.master_weights = !variant && stored == DType::bf16;
                expect_sound(model, plan);
            }
}

// Three ranks divide neither layers nor root: the flat gradient is padded.
TEST(Verify, FlatParametersThatRanksDoNotDivide) {
    ParallelPlan plan = plan_for(Strategy::fsdp);
    plan.fsdp_version = 1;
    plan.mesh = mesh_for(Strategy::fsdp, 7, 7);
    expect_sound(small_model("nvl-mistral7b-L8-s4096-b1-a1-single-bf16"), plan);
}

TEST(Verify, EveryStateOfTheStaleBucket) {
    const Transformer model = small_model("nvl-mistral7b-L8-s4096-b1-a1-single-bf16");
    for (const StaleBucket stale : kStaleBuckets) {
        ParallelPlan plan = plan_for(Strategy::ddp);
        plan.stale_bucket = stale;
        expect_sound(model, plan);
    }
}

}  // namespace
}  // namespace wirewise
