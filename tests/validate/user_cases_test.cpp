// What users asked, from their own reports: every plan of DP, ZeRO, FSDP or HSDP whose model is stated is
// answered, what it leaves unsaid is assumed by name, the rest is refused by name; and findings that
// surprised them come out of the planner with their reason.
#include <gtest/gtest.h>

#include <map>

#include "model/strategy/lower.hpp"
#include "tools/inputs/inputs.hpp"
#include "tools/validate/validation.hpp"

namespace wirewise::test {
namespace {

const Validation& user_cases() {
    static const Validation validation =
        validate({{WIREWISE_SOURCE_FOLDER "/tests/validate/cases/user_cases.json"}, {}, "", {}, {}});
    return validation;
}

const Comparison& comparison(const std::string& id, MeasuredQuantity quantity) {
    for (const Comparison& one : user_cases().comparisons)
        if (one.id == id && one.quantity == quantity) return one;
    throw std::out_of_range(id);
}

const UserAnswer& told(const std::string& id) {
    for (const UserAnswer& one : user_cases().answers)
        if (one.id == id) return one;
    throw std::out_of_range(id);
}

// 34 of the 120 reports; of 32 a stated figure is compared. The others state none: the four terms of 112 GB
// (c045), and speeds on GPUs that are not named (c124).
TEST(UserCases, AreAnsweredWhereTheModelAndAnImplementedStrategyAreStated) {
    std::size_t compared = 0;
    for (const UserAnswer& one : user_cases().answers) compared += one.compared;
    EXPECT_EQ(user_cases().answers.size(), 34u);
    EXPECT_EQ(compared, 32u);
}

// What is wrong stays in view: the verdicts that contradict the report, each resting on what it does not
// state.
TEST(UserCases, WrongVerdictsAreThese) {
    std::map<std::string, std::vector<std::string>> wrong;
    for (const Comparison& one : user_cases().comparisons)
        if ((one.quantity == MeasuredQuantity::oom || one.quantity == MeasuredQuantity::host_oom) &&
            one.relative_error() != 0)
            wrong[one.id] = one.assumed;
    for (const auto& [id, assumed] : wrong) EXPECT_FALSE(assumed.empty()) << id;
    EXPECT_TRUE(wrong.contains("c025"));  // 721 of 744 GB of host memory: tight
    EXPECT_TRUE(comparison("c025", MeasuredQuantity::host_oom).inside());
    EXPECT_TRUE(wrong.contains("c032"));  // 26 billion parameters of no stated shape, length or recomputation
    EXPECT_TRUE(wrong.contains("c034"));  // out of memory at a length and batch that it does not state
    EXPECT_EQ(wrong.size(), 3u);
}

TEST(UserCases, NameWhatTheyAssume) {
    const auto has = [](const std::string& id, const std::string& words) {
        for (const std::string& one : told(id).assumed)
            if (one.find(words) != std::string::npos) return true;
        return false;
    };
    EXPECT_TRUE(has("c001", "the GPUs are not stated"));
    EXPECT_TRUE(has("c001", "no sequence length"));
    EXPECT_TRUE(has("c001", "no batch"));
    EXPECT_TRUE(has("c002", "only a size is stated"));
    EXPECT_TRUE(has("c040", "which DGX"));
    EXPECT_TRUE(told("c024").assumed.empty());  // says all that a plan needs
    EXPECT_TRUE(told("c126").assumed.empty());
}

// huggingface/transformers#25107: eight ranks each load 160 GB in fp32.
TEST(UserCases, HostMemoryCountsEveryRank) {
    EXPECT_NEAR(comparison("c040", MeasuredQuantity::host_bytes).relative_error(), 0, 0.05);
}

// How many times as long: HYBRID_SHARD against FULL_SHARD on four nodes, two nodes against one.
TEST(UserCases, RatiosOfTwoSettings) {
    EXPECT_NEAR(comparison("c123", MeasuredQuantity::step_ratio).relative_error(), 0, 0.2);
    EXPECT_GT(comparison("c123", MeasuredQuantity::step_ratio).predicted, 1);
    EXPECT_NEAR(comparison("c127", MeasuredQuantity::step_ratio).relative_error(), 0, 0.2);
}

TEST(UserCases, GetTheNumberTheyNeeded) {
    std::map<std::string, double> worst;
    for (const Comparison& one : user_cases().comparisons)
        worst[one.id] = std::max(worst[one.id], std::abs(one.relative_error()));
    for (const char* id : {"c023", "c024", "c026"})
        EXPECT_EQ(worst.at(id), 0) << id << ": out of memory, as reported";
    for (const char* id : {"c110", "c111", "c114", "c115", "c116", "c118", "c122", "c126"})
        EXPECT_LT(worst.at(id), 0.2) << id;
    EXPECT_LT(worst.at("c029"), 0.15) << "70 billion parameters fit on eight cards of 80 GB, as reported";
}

// torchtitan, torchtune and KempnerForge print what they used: selective recomputation, loss in chunks, bf16
// logits held by the script.
TEST(UserCases, GetTheMemoryThatOthersPrinted) {
    std::map<std::string, double> errors;
    for (const Comparison& one : user_cases().comparisons)
        if (one.quantity == MeasuredQuantity::peak_allocated_bytes ||
            one.quantity == MeasuredQuantity::peak_reserved_bytes)
            errors[one.id] = one.relative_error();
    for (const char* id : {"c054", "c055", "c060", "c062", "c080", "c083", "c086"})
        EXPECT_LT(std::abs(errors.at(id)), 0.02) << id;
}

TEST(UserCases, WhatIsOutOfReachIsRefusedByName) {
    std::map<std::string, std::string> reasons;
    for (const LeftOut& one : user_cases().left_out) reasons[one.id] = one.reason;
    EXPECT_EQ(reasons["c047"], "LoRA and its relatives");
    EXPECT_EQ(reasons["c144"], "LoRA and its relatives");
    EXPECT_EQ(reasons["c185"], "tensor parallel");
    EXPECT_EQ(reasons["c004"], "pipeline parallel");
    EXPECT_EQ(reasons["c009"], "context or sequence parallel");
    EXPECT_EQ(reasons["c035"], "expert parallel");
    EXPECT_EQ(reasons["c163"], "no training step");
    EXPECT_EQ(reasons["c003"], "an encoder-decoder model");
    EXPECT_EQ(reasons["c014"], "the model is not stated");
    EXPECT_EQ(reasons["c039"], "a diffusion model");
    EXPECT_EQ(reasons["c056"], "the optimizer's step fused into backward");
    EXPECT_EQ(reasons["c063"], "8-bit or 4-bit compute");
    EXPECT_EQ(reasons["c134"], "its tensor and expert parallel sizes are not stated");
    EXPECT_EQ(reasons["c140"], "LoRA over a quantised base (QLoRA)");
    EXPECT_EQ(reasons["c150"], "an encoder model");
    EXPECT_EQ(reasons["c180"], "reinforcement learning: several models, and generation");
    EXPECT_EQ(reasons["c196"], "a vision model");
}

Bytes row(const PlanCandidate& candidate, Role role) {
    return candidate.estimate.peak.breakdown[static_cast<std::size_t>(role)];
}

Answer answer_to(const std::vector<std::string>& words) {
    return answer(inputs_of(plan_options_of(words)).question);
}

// NVIDIA-NeMo/Automodel#3708: both tables in one unit, reduced in fp32: 2 x 248,320 x 5,120 x 4 bytes at
// once.
TEST(UserCases, TheRootUnitsReductionIsOneBuffer) {
    const Question question =
        inputs_of(plan_options_of({"--model", "llama-2-7b", "--set", "hidden_size=5120", "--set",
                                   "vocab_size=248320", "--set", "num_hidden_layers=2", "--machine",
                                   "hgx-h100-8", "--runtime", "pytorch", "--strategy", "fsdp",
                                   "--reduce-dtype", "fp32", "--sequence-length", "2048"}))
            .question;
    const PlanCandidate plan = answer(question).candidates.front();
    Bytes largest;
    for (const Op& op : lower(question.model, plan.plan, Phase::steady_step).ops)
        if (const auto* call = std::get_if<Collective>(&op.payload);
            call && call->kind == CollectiveKind::reduce_scatter)
            largest = std::max(largest, call->bytes);
    EXPECT_NEAR(static_cast<double>(largest.count()) / (1 << 30), 9.473, 0.01);
}

// tatsu-lab/stanford_alpaca#280: with offload on 4x A100 40 GB, a micro-batch of 2 fits and one of 3 does
// not, at a length that the report does not state; at 2,048 tokens the limit lies higher.
TEST(UserCases, TheLargestMicroBatchHasALimit) {
    const auto fits = [](const char* batch) {
        return answer_to({"--model",
                          "llama-2-7b",
                          "--machine",
                          "dgx-a100-8",
                          "--set-machine",
                          "/gpu=a100-40gb-sxm",
                          "--gpus",
                          "4",
                          "--runtime",
                          "pytorch",
                          "--strategy",
                          "fsdp",
                          "--parameter-dtype",
                          "fp32",
                          "--reduce-dtype",
                          "fp32",
                          "--offload",
                          "optimizer,parameters",
                          "--sequence-length",
                          "2048",
                          "--micro-batch",
                          batch})
            .candidates.front()
            .fits;
    };
    EXPECT_EQ(fits("2"), Fit::yes);
    EXPECT_EQ(fits("8"), Fit::no);
}

// allenai/OLMo#762: a 1B model with micro-batches of 2 wants DDP, not FSDP.
TEST(UserCases, ASmallModelWantsDdp) {
    const Answer plans = answer_to({"--model",
                                    "olmo-7b",
                                    "--set",
                                    "hidden_size=2048",
                                    "--set",
                                    "num_hidden_layers=16",
                                    "--set",
                                    "num_attention_heads=16",
                                    "--set",
                                    "num_key_value_heads=16",
                                    "--set",
                                    "intermediate_size=8192",
                                    "--machine",
                                    "a100-pcie-4",
                                    "--set-machine",
                                    "/gpu=a100-80gb-pcie",
                                    "--runtime",
                                    "pytorch",
                                    "--strategy",
                                    "ddp,fsdp",
                                    "--parameter-dtype",
                                    "fp32",
                                    "--sequence-length",
                                    "2048",
                                    "--micro-batch",
                                    "2",
                                    "--global-batch",
                                    "256",
                                    "--no-sync",
                                    "on"});
    EXPECT_GT(plans.candidates[0].throughput.tokens_per_second,
              1.3 * plans.candidates[1].throughput.tokens_per_second);
    EXPECT_NE(plans.why.find("ddp"), std::string::npos) << plans.why;
}

// deepspeedai/DeepSpeedExamples#123, DeepSpeed#5305: at two ranks and a small model, buckets and gathered
// parameters outweigh what sharding saves.
TEST(UserCases, HigherStagesOfZeroCanNeedMoreMemory) {
    const Answer plans =
        answer_to({"--model", "gpt2", "--machine", "dgx-a100-8", "--gpus", "2", "--runtime", "deepspeed",
                   "--strategy", "zero1,zero2,zero3", "--sequence-length", "512", "--micro-batch", "8",
                   "--parameter-dtype", "fp16", "--compute-dtype", "fp16", "--master-weights"});
    const PlanCandidate &one = plans.candidates[0], &two = plans.candidates[1], &three = plans.candidates[2];
    EXPECT_GT(two.estimate.device_used(), one.estimate.device_used());
    EXPECT_GT(three.estimate.device_used(), two.estimate.device_used());
    // The reason stands in the rows: parameters shrink, gathered ones and what the allocator keeps for them
    // outweigh it.
    EXPECT_LT(row(three, Role::parameter), row(one, Role::parameter));
    const auto kept = [](const PlanCandidate& plan) {
        return row(plan, Role::communication) + (plan.estimate.reserved - plan.estimate.peak.allocated);
    };
    EXPECT_GT(kept(three) - kept(one), row(one, Role::parameter) - row(three, Role::parameter));
    EXPECT_EQ(plans.recommended, 0u);
}

// huggingface/transformers#9371: GPT-2 on two cards without a bridge is slower than on one.
TEST(UserCases, TwoGpusCanBeSlowerThanOne) {
    const Answer plans = answer_to({"--model",           "gpt2",
                                    "--machine",         "rtx-3090-2",
                                    "--without",         "nvlink",
                                    "--nccl-env",        "NCCL_P2P_DISABLE=1",
                                    "--nccl-env",        "NCCL_SHM_DISABLE=1",
                                    "--runtime",         "pytorch",
                                    "--strategy",        "single,ddp",
                                    "--sequence-length", "512",
                                    "--parameter-dtype", "fp32",
                                    "--compute-dtype",   "fp32"});
    const PlanCandidate& two = plans.candidates[1];
    EXPECT_LT(two.throughput.speedup_over_single, 1);
    EXPECT_NE(two.bottleneck.find("all_reduce"), std::string::npos) << two.bottleneck;
    EXPECT_EQ(plans.recommended, 0u);
    EXPECT_NE(plans.why.find("single"), std::string::npos) << plans.why;
}

}  // namespace
}  // namespace wirewise::test
