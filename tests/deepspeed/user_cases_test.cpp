// What users of DeepSpeed were surprised by, from their issue threads: the answer must hold the verdict and
// its reason.
#include <gtest/gtest.h>

#include "simulator/planner/candidate.hpp"
#include "simulator/planner/surprises.hpp"
#include "tools/inputs/inputs.hpp"

namespace wirewise {
namespace {

using Words = std::vector<std::string>;

Answer asked(Words words) {
    words.insert(words.end(), {"--runtime", "deepspeed"});
    return answer(inputs_of(plan_options_of(words)).question);
}

bool says(const std::vector<std::string>& notes, std::initializer_list<std::string_view> parts) {
    for (const std::string& note : notes) {
        bool all = true;
        for (const std::string_view part : parts) all = all && note.find(part) != std::string::npos;
        if (all) return true;
    }
    return false;
}

Bytes used(const Answer& answer, std::size_t index) {
    return answer.candidates.at(index).estimate.device_used();
}

// deepspeedai/DeepSpeedExamples#123, DeepSpeed#1302: stage 1 8,900 MB, stage 2 9,600 MB with the default
// buckets.
TEST(UserCases, Zero2AboveZero1ForASmallModel) {
    const Answer answer = asked({"--model", "gpt2-medium", "--machine", "a100-80gb-x4", "--parameter-dtype",
                                 "fp16", "--strategy", "zero1,zero2", "--sequence-length", "512"});
    EXPECT_GT(used(answer, 1), used(answer, 0));
    EXPECT_TRUE(says(surprises_of(answer), {"zero2 needs", "more than zero1", "communication +"}));
}

// deepspeedai/DeepSpeed#5305, #4305: ZeRO-3 above ZeRO-2 at two ranks.
TEST(UserCases, Zero3AboveZero2OnTwoGpus) {
    const Answer answer =
        asked({"--model", "llama-3.2-1b", "--machine", "a100-80gb-x4", "--gpus", "2", "--strategy",
               "zero2,zero3", "--sequence-length", "512", "--recompute", "full"});
    EXPECT_GT(used(answer, 1), used(answer, 0));
    EXPECT_TRUE(says(surprises_of(answer), {"fsdp needs", "more than zero2"}));
}

// deepspeedai/DeepSpeed#5770: ZeRO-3 over a slow network; huggingface/transformers#9371: two GPUs slower than
// one.
TEST(UserCases, MoreGpusAreSlowerOverASlowNetwork) {
    const Answer answer =
        asked({"--model", "qwen2-1.5b", "--machine", "aws-g5-48xlarge", "--gpus", "2", "--nodes", "2",
               "--fabric", "ethernet-10g", "--strategy", "zero3", "--sequence-length", "1024"});
    EXPECT_LT(answer.candidates.front().throughput.speedup_over_single, 1);
    EXPECT_TRUE(says(surprises_of(answer), {"slower than one GPU", "communication", "ethernet-10g"}));
}

// hiyouga/LlamaFactory#5977: Llama-3 8B, ZeRO-3 on 8 RTX 3090 runs out of memory, with offload it runs at
// about 13 GB.
TEST(UserCases, OffloadMakesEightBillionFitOn3090s) {
    const Words words{"--model",
                      "llama-3.1-8b",
                      "--machine",
                      "rtx-4090-8",
                      "--set-machine",
                      "/gpu=rtx-3090",
                      "--strategy",
                      "zero3",
                      "--parameter-dtype",
                      "fp16",
                      "--sequence-length",
                      "1024",
                      "--gradient-accumulation",
                      "2",
                      "--recompute",
                      "full"};
    const Answer without = asked(words);
    EXPECT_NE(without.candidates.front().fits, Fit::yes);
    bool offered = false;
    for (const Remedy& remedy : without.candidates.front().remedies)
        offered |= remedy.option.starts_with("--offload") && remedy.fits == Fit::yes;
    EXPECT_TRUE(offered);
    Words offloaded = words;
    offloaded.insert(offloaded.end(), {"--offload", "optimizer,parameters"});
    const Answer with = asked(offloaded);
    EXPECT_EQ(with.candidates.front().fits, Fit::yes);
    EXPECT_LT(used(with, 0), Bytes(13) * 1'000'000'000);
}

// hiyouga/LlamaFactory#260: a 7B model, ZeRO-2 on 8 V100 of 32 GB. The piece of 26.08 GiB that it could not
// get is all parameters in fp32; in fp16 it would have been near the limit.
TEST(UserCases, Zero2KeepsWholeParameters) {
    const Answer answer =
        asked({"--model", "llama-2-7b", "--machine", "azure-ndv2", "--strategy", "zero2", "--parameter-dtype",
               "fp32", "--compute-dtype", "fp32", "--sequence-length", "1024", "--recompute", "full"});
    EXPECT_EQ(answer.candidates.front().fits, Fit::no);
    EXPECT_GT(used(answer, 0), Bytes(26) * 1'000'000'000);
}

// hiyouga/LlamaFactory#6755: Qwen2.5-32B, ZeRO-3 with offload on one H100 NVL: killed at 744 GB of host
// memory.
TEST(UserCases, TheHostDecides) {
    const Words words{
        "--model",           "qwen2.5-32b", "--machine", "h100-nvl-8",           "--gpus",      "1",
        "--strategy",        "zero3",       "--offload", "optimizer,parameters", "--recompute", "full",
        "--sequence-length", "2048"};
    const auto with_host = [&](const char* memory) {
        Words all = words;
        all.insert(all.end(), {"--set-machine", std::string("/host_memory=") + memory});
        return asked(all).candidates.front();
    };
    const PlanCandidate enough = with_host("2 TB");
    EXPECT_EQ(enough.fits, Fit::yes);
    EXPECT_GT(enough.estimate.host.peak, Bytes(590) * 1'000'000'000);  // 18 bytes a parameter
    EXPECT_NE(with_host("744 GB").fits, Fit::yes);
    EXPECT_EQ(with_host("512 GB").fits, Fit::no);
}

// deepspeedai/DeepSpeed#4093: memory that does not shrink with more GPUs is named.
TEST(UserCases, WhatDoesNotShrinkIsThere) {
    const auto on = [](const char* gpus) {
        return asked({"--model", "gpt-j-6b", "--machine", "hgx-h100-8", "--gpus", gpus, "--strategy", "zero3",
                      "--parameter-dtype", "fp16", "--sequence-length", "512", "--offload",
                      "optimizer,parameters"});
    };
    const Answer two = on("2"), four = on("4");
    const double ratio =
        static_cast<double>(used(four, 0).count()) / static_cast<double>(used(two, 0).count());
    EXPECT_GT(ratio, 0.9);
}

}  // namespace
}  // namespace wirewise
