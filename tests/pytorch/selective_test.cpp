// Selective recomputation, the forms of the loss, master weights: sound programs, and peaks by closed forms.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/program/verify.hpp"
#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"
#include "simulator/planner/walk_phases.hpp"

namespace wirewise {
namespace {

ParallelPlan plan_of(Strategy strategy, Recompute recompute = Recompute::none) {
    ParallelPlan plan;
    plan.runtime = Runtime::pytorch;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, strategy == Strategy::single ? 1 : 2, 0);
    plan.sequence_length = 2048;
    plan.recompute = recompute;
    plan.loss_chunk = 0;
    return plan;
}

Transformer llama(std::size_t layers) {
    Transformer model = load_model("llama-3.1-8b");
    model.layers.resize(layers);
    return model;
}

void expect_sound(const Transformer& model, const ParallelPlan& plan, const std::string& what) {
    for (const Phase phase : {Phase::first_step, Phase::steady_step}) {
        const std::vector<Fault> faults = verify(lower(model, plan, phase));
        EXPECT_TRUE(faults.empty()) << what << ": " << (faults.empty() ? "" : faults.front().text);
    }
}

std::int64_t launches(const StepProgram& program, std::string_view name) {
    return std::ranges::count_if(program.ops, [&](const Op& op) { return op.name.text == name; });
}

double gigabytes(const Transformer& model, const ParallelPlan& plan) {
    return static_cast<double>(walk_phases(model, plan).peak.allocated.count()) / 1e9;
}

TEST(Selective, Sound) {
    for (const char* name : {"llama-3.1-8b", "qwen2-1.5b", "gpt2", "mixtral-8x7b", "gemma-2-2b"})
        for (const Strategy strategy : {Strategy::single, Strategy::ddp, Strategy::fsdp})
            for (const bool compile : {false, true})
                for (const std::int64_t every : {0, 2}) {
                    Transformer model = load_model(name);
                    model.layers.resize(4);
                    ParallelPlan plan = plan_of(strategy, Recompute::selective);
                    plan.sequence_length = 128;
                    plan.compile = compile;
                    plan.recompute_every = every;
                    expect_sound(model, plan, name);
                }
}

// Of the seven products q, k, v, o, gate, up, down every other one runs again: k, o and up; attention never.
TEST(Selective, RunsEveryOtherProductAgain) {
    for (const bool compile : {false, true}) {
        ParallelPlan plan = plan_of(Strategy::fsdp, Recompute::selective);
        plan.compile = compile;
        const StepProgram program = lower(llama(3), plan, Phase::steady_step);
        for (const char* again : {"k_proj", "o_proj", "up_proj"})
            EXPECT_EQ(launches(program, again), 6) << again;
        for (const char* kept : {"q_proj", "v_proj", "gate_proj", "down_proj", "attention"})
            EXPECT_EQ(launches(program, kept), 3) << kept;
    }
}

// Two layers more keep, per token, the input, the outputs of q, v, gate and down, of attention and its
// log-sum-exp; compiled, not that of down, which backward does not read.
TEST(Selective, WhatALayerKeeps) {
    for (const bool compile : {false, true}) {
        ParallelPlan plan = plan_of(Strategy::single, Recompute::selective);
        plan.compile = compile;
        plan.sequence_length = 8192;
        plan.optimizer = OptimizerKind::sgd;
        const double hidden = 4096, value = 1024, gate = 14336, heads = 32;
        const double kept =
            (compile ? 2 : 4) * hidden + 2 * hidden + 2 * value + 2 * hidden + 4 * heads + 2 * gate;
        const double parameters = 2 * 218'112'000;  // of a layer
        const double more = gigabytes(llama(4), plan) - gigabytes(llama(2), plan);
        EXPECT_NEAR(more, 2 * (8192 * kept + parameters) / 1e9, 0.01 * more) << compile;
    }
}

TEST(Selective, EveryOtherLayerLiesBetween) {
    ParallelPlan every = plan_of(Strategy::single, Recompute::selective);
    every.recompute_every = 2;
    const Transformer model = llama(8);
    const double none = gigabytes(model, plan_of(Strategy::single));
    const double full = gigabytes(model, plan_of(Strategy::single, Recompute::full));
    EXPECT_NEAR(gigabytes(model, every), (none + full) / 2, 0.03 * none);
    EXPECT_EQ(launches(lower(model, every, Phase::steady_step), "q_proj"), 12);
}

TEST(Loss, FormsAreSound) {
    for (const bool upcasts : {false, true})
        for (const bool compiled : {false, true})
            for (const bool keeps : {false, true})
                for (const std::int64_t chunk : {0, 500}) {
                    ParallelPlan plan = plan_of(Strategy::fsdp, Recompute::full);
                    plan.loss = {upcasts, compiled, keeps};
                    plan.loss_chunk = chunk;
                    plan.gradient_accumulation = 2;
                    expect_sound(llama(2), plan, "loss");
                }
}

// At the start of backward, bytes per logit: fp32 12 (log-softmax and two gradients); in the logits' own type
// 6, held by the script 8; compiled 4 (logits and gradient); in n chunks 4 and a chunk's 8.
TEST(Loss, BytesPerLogit) {
    const Transformer model = llama(2);
    ParallelPlan plan = plan_of(Strategy::single, Recompute::full);
    plan.sequence_length = 8192;
    plan.optimizer = OptimizerKind::sgd;
    const double gigabyte = 8192.0 * static_cast<double>(model.vocabulary) / 1e9;  // one byte per logit
    const double fp32 = gigabytes(model, plan);
    const auto less = [&](LossSettings loss, std::int64_t chunk) {
        plan.loss = loss;
        plan.loss_chunk = chunk;
        return (fp32 - gigabytes(model, plan)) / gigabyte;
    };
    EXPECT_NEAR(less({.upcasts = false}, 0), 12 - 6, 0.1);
    EXPECT_NEAR(less({.upcasts = false, .keeps_logits = true}, 0), 12 - 8, 0.1);
    // What follows is the peak then: the head's own gradients, of each chunk a matrix of the weight's size.
    EXPECT_GE(less({}, 1024), 12 - 7);
    EXPECT_GE(less({.compiled = true}, 0), 12 - 6);
}

// fp32 copies of parameters and, at the step, of all gradients: 8 bytes a parameter.
TEST(MasterWeights, AddCopiesOfParametersAndGradients) {
    const Transformer model = llama(4);
    ParallelPlan plan = plan_of(Strategy::fsdp, Recompute::full);
    plan.sequence_length = 128;
    plan.precision.optimizer_state = DType::fp32;
    plan.optimizer = OptimizerKind::adamw_foreach;
    const double without = gigabytes(model, plan);
    plan.precision.master_weights = true;
    expect_sound(model, plan, "master weights");
    EXPECT_NEAR(gigabytes(model, plan) - without, 8 * static_cast<double>(model.parameters()) / 2 / 1e9, 0.1);
}

}  // namespace
}  // namespace wirewise
