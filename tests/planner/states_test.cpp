// The closed forms against the source article's figures (Mistral-7B, Adam, over four GPUs).
#include "model/memory/states.hpp"

#include <gtest/gtest.h>

#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

constexpr std::int64_t kMistral = 7'241'732'096;

ParallelPlan plan(Strategy strategy, DType parameter) {
    ParallelPlan plan;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, 4, 2);
    plan.precision.parameter = plan.precision.gradient = parameter;
    return plan;
}

double gigabytes(const ParallelPlan& plan) {
    return static_cast<double>(states_of(kMistral, plan).total().count()) / 1e9;
}

TEST(States, ArticleFigures) {
    EXPECT_NEAR(gigabytes(plan(Strategy::ddp, DType::bf16)), 86.9, 0.05);
    EXPECT_NEAR(gigabytes(plan(Strategy::fsdp, DType::bf16)), 21.7, 0.05);
    EXPECT_NEAR(gigabytes(plan(Strategy::fsdp, DType::fp32)), 29.0, 0.05);
}

TEST(States, EachSwitchShardsItsRow) {
    const States ddp = states_of(kMistral, plan(Strategy::ddp, DType::bf16));
    const States zero1 = states_of(kMistral, plan(Strategy::zero1, DType::bf16));
    const States zero2 = states_of(kMistral, plan(Strategy::zero2, DType::bf16));
    EXPECT_EQ(zero1.parameters, ddp.parameters);
    EXPECT_EQ(zero1.gradients, ddp.gradients);
    EXPECT_EQ(zero1.optimizer, ddp.optimizer / 4);
    EXPECT_EQ(zero2.gradients, ddp.gradients / 4);
    EXPECT_EQ(states_of(kMistral, plan(Strategy::hsdp, DType::bf16)).parameters, ddp.parameters / 2);
}

TEST(States, MasterWeightsAreFp32AndGoWithTheOptimizer) {
    ParallelPlan one = plan(Strategy::zero1, DType::bf16);
    one.precision.master_weights = true;
    EXPECT_EQ(states_of(kMistral, one).master_parameters, Bytes(kMistral));  // 4 P over four GPUs
}

TEST(States, ASharePaddedUpIsNeverTooSmall) {
    ParallelPlan one = plan(Strategy::fsdp, DType::bf16);
    one.mesh = {.shard = 3};
    EXPECT_EQ(states_of(10, one).parameters, Bytes(8));  // ceil(10 / 3) bf16 values
}

// What a plan's program really keeps as optimizer state.
Bytes kept_as_state(const Transformer& model, const ParallelPlan& plan) {
    Bytes sum;
    for (const Buffer& buffer : lower(model, plan, Phase::first_step).buffers)
        if (buffer.role == Role::optimizer && buffer.lifetime == Lifetime::persistent) sum += buffer.bytes;
    return sum;
}

// Up to padding, block scales and PyTorch's step counters.
TEST(States, EveryOptimizerKeepsWhatTheClosedFormSays) {
    const Transformer model = load_model("mistral-7b", {"num_hidden_layers=2"});
    for (const Runtime runtime : {Runtime::native, Runtime::pytorch})
        for (const Strategy strategy : {Strategy::ddp, Strategy::fsdp})
            for (const OptimizerKind kind : {OptimizerKind::adamw_fused, OptimizerKind::adamw_foreach,
                                             OptimizerKind::adamw_8bit, OptimizerKind::sgd}) {
                ParallelPlan one = plan(strategy, DType::bf16);
                one.runtime = runtime;
                one.optimizer = kind;
                const Bytes said = states_of(model.parameters(), one).optimizer;
                const Bytes kept = kept_as_state(model, one);
                EXPECT_GE(kept, said) << name_of(runtime) << ' ' << name_of(strategy) << ' ' << name_of(kind);
                EXPECT_LE(kept, said + said / 1000)
                    << name_of(runtime) << ' ' << name_of(strategy) << ' ' << name_of(kind);
            }
}

}  // namespace
}  // namespace wirewise
