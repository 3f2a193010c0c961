#include "model/topology/gpu.hpp"

#include <gtest/gtest.h>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

TEST(GpuCatalogue, TheTestMachinesGpuReportsWhatItsDriverReports) {
    const GpuModel& gpu = gpu_model("h200-sxm");
    EXPECT_EQ(gpu.memory_total, 150109880320_B);
    EXPECT_EQ(gpu.memory_free, 149557477376_B);
    EXPECT_EQ(gpu.dense_peak.at(DType::bf16), 989.4_TFLOPS);
    EXPECT_EQ(gpu.nvlinks, 18);
    EXPECT_DOUBLE_EQ(gpu.nvlink_rate.value() * gpu.nvlinks, 370.8e9);
}

TEST(GpuCatalogue, EveryRowIsComplete) {
    EXPECT_GE(all_gpu_models().size(), 40U);
    for (const GpuModel& gpu : all_gpu_models()) {
        EXPECT_GT(gpu.memory_free.count(), (9_GiB).count()) << gpu.name;
        EXPECT_LT(gpu.memory_free, gpu.memory_total) << gpu.name;
        EXPECT_GT(gpu.memory_bandwidth, 200_GBps) << gpu.name;
        EXPECT_TRUE(gpu.dense_peak.contains(DType::fp32) && gpu.dense_peak.contains(DType::fp16)) << gpu.name;
        // The dense tensor peak of every generation lies between 1.9 and 33 times the plain fp32 rate.
        const double ratio = gpu.dense_peak.at(DType::fp16) / gpu.dense_peak.at(DType::fp32);
        EXPECT_TRUE(ratio > 1.9 && ratio < 34) << gpu.name << " " << ratio;
        EXPECT_FALSE(gpu.source.empty() || gpu.memory_source.empty()) << gpu.name;
        EXPECT_EQ(gpu.nvlinks > 0, gpu.nvlink_rate.value() > 0) << gpu.name;
        EXPECT_LE(gpu.nvlink_rate.value(), gpu.nvlink_spec.value()) << gpu.name;
    }
}

TEST(GpuCatalogue, RecognisesProductNamesByTheLongestFragment) {
    EXPECT_EQ(gpu_model_in("NVIDIA H200")->name, "h200-sxm");
    EXPECT_EQ(gpu_model_in("NVIDIA H200 NVL")->name, "h200-nvl");
    EXPECT_EQ(gpu_model_in("GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)")->name, "a100-80gb-sxm");
    EXPECT_EQ(gpu_model_in("nvidia geforce rtx 4090 d")->name, "rtx-4090-d");
    EXPECT_EQ(gpu_model_in("NVIDIA L40S")->name, "l40s");
    EXPECT_EQ(gpu_model_in("NVIDIA L4")->name, "l4");
    EXPECT_EQ(gpu_model_in("NVIDIA L400"), nullptr);
    EXPECT_EQ(gpu_model_of_device("0x2335")->name, "h200-sxm");
    EXPECT_EQ(gpu_model_of_device("0xffff"), nullptr);
}

TEST(GpuCatalogue, ProductNamesNameAKindToo) {
    EXPECT_EQ(gpu_named("h200-sxm").name, "h200-sxm");
    EXPECT_EQ(gpu_named("NVIDIA GeForce RTX 3090").name, "rtx-3090");
    EXPECT_THROW(gpu_named("a toaster"), InputError);
}

TEST(GpuCatalogue, AnUnknownNameListsNearOnes) {
    try {
        gpu_model("h200");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(error.remedy().find("h200-sxm"), std::string::npos) << error.remedy();
    }
}

}  // namespace
}  // namespace wirewise
