// What users asked, from their own reports: plans that can be answered are, the rest is refused by name; and
// three findings that surprised them come out of the planner with their reason.
#include <gtest/gtest.h>

#include <map>

#include "tools/inputs/inputs.hpp"
#include "tools/validate/validation.hpp"

namespace wirewise::test {
namespace {

const Validation& user_cases() {
    static const Validation validation =
        validate({{WIREWISE_SOURCE_FOLDER "/tests/validate/cases/user_cases.json"}, {}, "", {}, {}});
    return validation;
}

TEST(UserCases, GetTheNumberTheyNeeded) {
    std::map<std::string, double> worst;
    for (const Comparison& one : user_cases().comparisons)
        worst[one.id] = std::max(worst[one.id], std::abs(one.relative_error()));
    for (const char* id : {"c023", "c024", "c026"})
        EXPECT_EQ(worst.at(id), 0) << id << ": out of memory, as reported";
    for (const char* id : {"c110", "c114", "c116", "c126"}) EXPECT_LT(worst.at(id), 0.2) << id;
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
}

Answer answer_to(const std::vector<std::string>& words) {
    return answer(inputs_of(plan_options_of(words)).question);
}

Bytes row(const PlanCandidate& candidate, Role role) {
    return candidate.estimate.peak.breakdown[static_cast<std::size_t>(role)];
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
