// DeepSpeed's own config files: what they say becomes options, what they contradict is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/units/error.hpp"
#include "tools/inputs/deepspeed_config.hpp"

namespace wirewise {
namespace {

struct Applied {
    TrainingOptions options;
    std::vector<std::string> warnings;
};

Applied apply(const std::string& text, TrainingOptions options = {}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const auto file =
        std::filesystem::temp_directory_path() / (std::string("ds_config_") + test->name() + ".json");
    std::ofstream(file) << text;
    Applied applied{std::move(options), {}};
    apply_deepspeed_config(file.string(), applied.options, applied.warnings);
    return applied;
}

// As the Hugging Face documentation of ZeRO-3 with offload has it, with a few numbers in place of "auto".
constexpr const char* kZero3 = R"({
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3, "overlap_comm": true, "contiguous_gradients": true, "sub_group_size": 1e9,
    "offload_optimizer": {"device": "cpu", "pin_memory": true}, "offload_param": {"device": "cpu"},
    "reduce_bucket_size": 16777216, "stage3_prefetch_bucket_size": "auto",
    "stage3_param_persistence_threshold": 40960, "stage3_max_live_parameters": 5e8},
  "gradient_accumulation_steps": 4, "train_micro_batch_size_per_gpu": 2, "gradient_clipping": 1.0,
  "train_batch_size": "auto", "steps_per_print": 2000})";

TEST(DeepSpeedConfig, BecomesOptions) {
    const TrainingOptions options = apply(kZero3).options;
    EXPECT_EQ(options.runtime, "deepspeed");
    EXPECT_EQ(options.strategy, "zero3");
    EXPECT_EQ(options.offload, "optimizer,parameters");
    EXPECT_EQ(options.parameter_dtype, "bf16");
    EXPECT_EQ(options.micro_batch, 2);
    EXPECT_EQ(options.gradient_accumulation, 4);
    EXPECT_EQ(options.max_grad_norm, 1.0);
    EXPECT_EQ(options.deepspeed.reduce_bucket_size, 16'777'216);
    EXPECT_EQ(options.deepspeed.prefetch_bucket_size, DeepSpeedSettings{}.prefetch_bucket_size);
    EXPECT_EQ(options.deepspeed.param_persistence_threshold, 40'960);
    EXPECT_EQ(options.deepspeed.max_live_parameters, 500'000'000);
    EXPECT_EQ(options.deepspeed.overlap_comm, std::optional(true));
}

TEST(DeepSpeedConfig, AnEmptyOneIsStage0) {
    EXPECT_EQ(apply("{}").options.strategy, "ddp");
    EXPECT_EQ(apply(R"({"fp16": {"enabled": true}})").options.parameter_dtype, "fp16");
}

TEST(DeepSpeedConfig, ContradictionsAndNonsenseAreRefused) {
    TrainingOptions typed;
    typed.micro_batch = 8;
    EXPECT_THROW(apply(kZero3, typed), InputError);
    for (const char* text :
         {R"({"zero_optimization": {"stage": 4}})", R"({"zero_optimization": {"stage": "three"}})",
          R"({"zero_optimization": 3})", R"([1])", "", R"({"zero_optimization": {"stage": -1}})",
          R"({"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme"}}})",
          R"({"fp16": {"enabled": true}, "bf16": {"enabled": true}})",
          R"({"zero_optimization": {"stage": 2, "reduce_bucket_size": 0}})",
          R"({"zero_optimization": {"stage": 2, "reduce_bucket_size": 1e300}})",
          R"({"gradient_accumulation_steps": 1.5})", R"({"gradient_clipping": "much"})"})
        EXPECT_THROW(apply(text), InputError) << text;
}

TEST(DeepSpeedConfig, WhatIsNotModelledIsSaid) {
    EXPECT_EQ(apply(R"({"zero_optimization": {"stage": 3, "zero_quantized_weights": true}})").warnings.size(),
              1U);
}

}  // namespace
}  // namespace wirewise
