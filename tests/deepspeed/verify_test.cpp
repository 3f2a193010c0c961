// Every DeepSpeed program is sound, in every phase, with every option that changes its shape.
#include "model/program/verify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/strategy/lower.hpp"
#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"
#include "simulator/planner/walk_phases.hpp"

namespace wirewise {
namespace {

constexpr std::array kPhases{Phase::load,        Phase::first_step, Phase::second_step,
                             Phase::steady_step, Phase::evaluation, Phase::save};
constexpr std::array kStrategies{Strategy::single, Strategy::ddp, Strategy::zero1, Strategy::zero2,
                                 Strategy::fsdp};
constexpr std::array kOffloads{Offload{}, Offload{.optimizer = true}, Offload{.parameters = true},
                               Offload{.optimizer = true, .parameters = true}};

ParallelPlan plan_for(Strategy strategy, int ranks = 4) {
    ParallelPlan plan;
    plan.runtime = Runtime::deepspeed;
    plan.strategy = strategy;
    plan.mesh = mesh_for(strategy, strategy == Strategy::single ? 1 : ranks, 2);
    plan.sequence_length = 256;
    plan.recompute = Recompute::none;
    plan.precision.master_weights = true;
    plan.loss_chunk = 0;
    return plan;
}

bool possible(Strategy strategy, const Offload& offload) {
    const Sharding sharding = sharding_of(strategy);
    return (!offload.optimizer || sharding.optimizer) && (!offload.parameters || sharding.parameters);
}

void expect_sound(const Transformer& model, const ParallelPlan& plan, const std::string& what) {
    for (const Phase phase : kPhases) {
        const std::vector<Fault> faults = verify(lower(model, plan, phase));
        if (!faults.empty())
            ADD_FAILURE() << what << " " << name_of(phase) << ": " << faults.size()
                          << " faults, first: " << faults.front().text;
    }
}

// Stages x accumulation x offload x overlap, with buckets that hold several gradients, one, and none.
TEST(DeepSpeed, EveryCombinationIsSound) {
    const Transformer model = load_model("mistral-7b", {"num_hidden_layers=2"});
    for (const Strategy strategy : kStrategies)
        for (const Offload& offload : kOffloads)
            for (const int accumulation : {1, 3})
                for (const std::optional<bool> overlap : {std::optional<bool>(), {true}, {false}})
                    for (const std::int64_t bucket : {500'000'000L, 20'000'000L}) {
                        if (!possible(strategy, offload)) continue;
                        ParallelPlan plan = plan_for(strategy);
                        plan.offload = offload;
                        plan.gradient_accumulation = accumulation;
                        plan.deepspeed.overlap_comm = overlap;
                        plan.deepspeed.reduce_bucket_size = bucket;
                        plan.deepspeed.sub_group_size = bucket;
                        expect_sound(
                            model, plan,
                            fmt::format("{} offload {}{} x{} overlap {} bucket {}", name_of(strategy),
                                        int{offload.optimizer}, int{offload.parameters}, accumulation,
                                        overlap.value_or(false), bucket));
                    }
}

TEST(DeepSpeed, EveryFamilyIsSound) {
    for (const char* name : {"qwen2.5-7b", "qwen3-4b", "llama-3.2-1b", "gpt2", "phi-2", "pythia-1.4b",
                             "gemma-2-2b", "olmo-2-7b", "deepseek-v2-lite", "mixtral-8x7b", "gpt-oss-20b"})
        for (const Strategy strategy : {Strategy::zero1, Strategy::zero2, Strategy::fsdp})
            for (const Recompute recompute : {Recompute::none, Recompute::full}) {
                ParallelPlan plan = plan_for(strategy);
                plan.recompute = recompute;
                expect_sound(
                    load_model(name, {std::string(name) == "gpt2" ? "n_layer=4" : "num_hidden_layers=4"}),
                    plan, fmt::format("{} {} {}", name, name_of(strategy), name_of(recompute)));
            }
}

TEST(DeepSpeed, OneGpuIsSound) {
    const Transformer model = load_model("qwen2.5-7b", {"num_hidden_layers=2"});
    for (const Strategy strategy : kStrategies)
        for (const Offload& offload : kOffloads) {
            if (!possible(strategy, offload)) continue;
            ParallelPlan plan = plan_for(strategy, 1);
            plan.offload = offload;
            plan.gradient_accumulation = 2;
            expect_sound(model, plan, fmt::format("{} on one GPU", name_of(strategy)));
        }
}

TEST(DeepSpeed, TheBucketThatOldReleasesKeepIsSoundAndAlwaysThere) {
    const Transformer model = load_model("mistral-7b", {"num_hidden_layers=2"});
    ParallelPlan plan = plan_for(Strategy::fsdp);
    plan.gradient_accumulation = 2;
    const auto kept = [&] { return walk_phases(model, plan).phases.front().peak.allocated; };
    const Bytes today = kept();
    plan.deepspeed.version = DeepSpeedVersion{0, 14, 2};
    expect_sound(model, plan, "0.14.2");
    const Bytes bucket(2 * plan.deepspeed.reduce_bucket_size), more = kept() - today;
    EXPECT_GE(more, bucket);
    EXPECT_LT(more, bucket + 2_MiB);  // its segment rounds up
}

TEST(DeepSpeed, ReleasesAreReadAndOrdered) {
    EXPECT_EQ(to_text(*deepspeed_version_from("0.14.2")), "0.14.2");
    EXPECT_LT(*deepspeed_version_from("0.4.10"), *deepspeed_version_from("0.14.2"));
    for (const char* text : {"", "0.14", "0.14.2.1", "v0.14.2", "0.-1.2", "0.14.x"})
        EXPECT_FALSE(deepspeed_version_from(text)) << text;
}

// As up to July 2021: every parameter by itself, none beside compute, a piece per rank.
TEST(DeepSpeed, OneByOneIsSoundAndGathersEachParameter) {
    const Transformer model = load_model("mistral-7b", {"num_hidden_layers=2"});
    ParallelPlan plan = plan_for(Strategy::fsdp);
    const auto count = [&](CollectiveKind kind) {
        const StepProgram program = lower(model, plan, Phase::steady_step);
        return std::ranges::count_if(program.ops, [&](const Op& op) {
            const auto* call = std::get_if<Collective>(&op.payload);
            return call && call->kind == kind;
        });
    };
    const auto launches = [&] {
        std::int64_t sum = 0;
        for (const Op& op : lower(model, plan, Phase::steady_step).ops)
            if (const auto* work = std::get_if<HostWork>(&op.payload);
                work && work->kind == HostWorkKind::launches)
                sum += work->count;
        return sum;
    };
    const auto gathers = count(CollectiveKind::all_gather),
               reductions = count(CollectiveKind::reduce_scatter);
    EXPECT_EQ(launches(), 0);
    plan.deepspeed.version = DeepSpeedVersion{0, 4, 3};
    plan.gradient_accumulation = 2;
    for (const Offload& offload : {Offload{}, Offload{.optimizer = true, .parameters = true}}) {
        plan.offload = offload;
        expect_sound(model, plan, "one by one");
    }
    plan.offload = {};
    plan.gradient_accumulation = 1;
    EXPECT_GT(count(CollectiveKind::all_gather), gathers);
    const auto weights = 2 * 7 + 2;  // matrices of two layers, table and head; norms join a bucket
    EXPECT_GE(count(CollectiveKind::reduce_scatter), weights);
    EXPECT_GT(count(CollectiveKind::reduce_scatter), reductions);
    const std::int64_t four = launches();
    plan.mesh = mesh_for(Strategy::fsdp, 8, 2);
    EXPECT_EQ(launches(), 2 * four);
}

TEST(DeepSpeed, OptimizersAreSound) {
    const Transformer model = load_model("llama-3.2-1b", {"num_hidden_layers=2"});
    for (const Strategy strategy : kStrategies)
        for (const OptimizerKind kind : {OptimizerKind::adamw_fused, OptimizerKind::adamw_foreach,
                                         OptimizerKind::adamw_8bit, OptimizerKind::sgd}) {
            ParallelPlan plan = plan_for(strategy);
            plan.optimizer = kind;
            plan.clip_gradients = true;
            expect_sound(model, plan, fmt::format("{} {}", name_of(strategy), name_of(kind)));
        }
}

TEST(DeepSpeed, WhatItLacksIsRefused) {
    const Transformer model = load_model("llama-3.2-1b", {"num_hidden_layers=1"});
    const auto refused = [&](Strategy strategy, Offload offload) {
        ParallelPlan plan = plan_for(strategy);
        plan.offload = offload;
        EXPECT_THROW(lower(model, plan, Phase::steady_step), InputError) << name_of(strategy);
    };
    refused(Strategy::ddp, {.optimizer = true});
    refused(Strategy::zero2, {.parameters = true});
    refused(Strategy::hsdp, {});
    refused(Strategy::fsdp_shard_grad_op, {});
}

}  // namespace
}  // namespace wirewise
