#include "model/cost/kernel_time.hpp"

#include <gtest/gtest.h>

#include "tests/cost/profiles.hpp"

namespace wirewise {
namespace {

TEST(GemmTime, CountsWholeWaves) {
    CostProfile profile = h200();
    profile.multiprocessors = 100;
    profile.gemm = {{{DType::bf16, 100.0_TFLOPS}}, Seconds(0), 100, 0};  // small tiles never pay
    profile.memory.vector_rate = BytesPerSecond(1e18);
    const auto time = [&](std::int64_t tiles) {
        return gemm_time({.m = 128 * tiles, .n = 256, .k = 4096}, profile);
    };
    EXPECT_DOUBLE_EQ(time(1).value(), time(100).value());
    EXPECT_DOUBLE_EQ(2 * time(100).value(), time(101).value());
    EXPECT_DOUBLE_EQ(time(100).value(), 100 * 128 * 256 * 2.0 * 4096 / 100e12);
}

TEST(GemmTime, SkinnyProductsAreBoundByMemory) {
    const CostProfile profile = h200();
    const Seconds time = gemm_time({.m = 1, .n = 16384, .k = 16384}, profile);
    EXPECT_GT(time.value(), 2.0 * 16384 * 16384 / 4.8e12);
}

TEST(GemmTime, AccumulatingCostsTheExtraRead) {
    const CostProfile profile = h200();
    Gemm gemm{
        .layout = GemmLayout::weight_gradient, .m = 28672, .n = 4096, .k = 16384, .result = DType::fp32};
    const Seconds plain = gemm_time(gemm, profile);
    gemm.accumulate = true;
    const double growth = gemm_time(gemm, profile) / plain - 1;
    EXPECT_GT(growth, 0.01);  // probes: 1.5-3 % at 16,384 tokens
    EXPECT_LT(growth, 0.03);
}

TEST(GemmTime, NothingTakesNoTime) { EXPECT_EQ(gemm_time({.m = 0, .n = 1, .k = 1}, h200()).value(), 0); }

TEST(AttentionTime, NarrowHeadsCostMorePerFlop) {
    const CostProfile profile = h200();
    const auto time = [&](std::int64_t heads, std::int64_t width) {
        return attention_time({false, 1, 4096, heads, heads, width, width}, profile).value();
    };
    const double half = profile.attention.half_head_factor;
    EXPECT_GT(half, 1);
    EXPECT_NEAR(time(32, 64) / time(16, 128), half, 1e-9);
    EXPECT_NEAR(time(64, 32) / time(16, 128), 2 * half, 1e-9);
    EXPECT_GT(time(32, 96), 0.75 * time(32, 128));
}

TEST(AttentionTime, WindowBoundsTheWork) {
    const CostProfile profile = h200();
    Attention a{false, 1, 32768, 32, 8, 128, 128};
    const Seconds whole = attention_time(a, profile);
    a.window = 4096;
    EXPECT_LT(attention_time(a, profile).value(), 0.3 * whole.value());
}

TEST(PointwiseTime, EachClassHasItsBound) {
    const MemoryCosts costs{4000_GBps, 2000_GBps, 1000_GBps, 250e9, 1_us, 2_us, 1_us};
    const auto microseconds = [&](AccessClass access, Bytes traffic) {
        Pointwise kernel{.access = access, .rows = 4096, .columns = 4096, .traffic = traffic};
        return 1e6 * pointwise_time(kernel, costs).value();
    };
    EXPECT_DOUBLE_EQ(microseconds(AccessClass::vector, 40'000'000_B), 12);
    EXPECT_DOUBLE_EQ(microseconds(AccessClass::reduction, 40'000'000_B), 22);
    EXPECT_DOUBLE_EQ(microseconds(AccessClass::gather, 40'000'000_B), 42);
    EXPECT_DOUBLE_EQ(microseconds(AccessClass::vector, 4_B), 3);  // the smallest kernel, and the gap
    EXPECT_NEAR(microseconds(AccessClass::broadcast, 40'000'000_B), 2 + 4096.0 * 4096 / 250e3, 1e-9);
}

TEST(PowerFactor, RisesFromTheKneeToTheLimit) {
    const PowerCosts power{0.4, 0.5, 1.2};
    EXPECT_EQ(power_factor(0, power), 1);
    EXPECT_EQ(power_factor(0.4, power), 1);
    EXPECT_NEAR(power_factor(0.6, power), 1.1, 1e-12);
    EXPECT_EQ(power_factor(1, power), 1.2);
}

// Few tokens for many experts: the time is that of reading every expert's weight, not one.
TEST(KernelTime, RoutedExpertsReadEveryWeight) {
    const CostProfile profile = h200();
    const std::int64_t experts = 64, rows = 256, in = 2048, out = 1408;
    const Bytes weights = experts * bytes_of(in * out, DType::bf16);
    for (const GemmLayout layout : {GemmLayout::forward, GemmLayout::data_gradient}) {
        const Gemm product{.layout = layout, .m = rows, .n = out, .k = in, .groups = experts};
        EXPECT_GE(gemm_time(product, profile), weights / profile.memory.vector_rate);
    }
    const Gemm gradient{
        .layout = GemmLayout::weight_gradient, .m = out, .n = in, .k = rows, .groups = experts};
    EXPECT_GE(gemm_time(gradient, profile), weights / profile.memory.vector_rate);  // each is written
    EXPECT_EQ(flops_of(Kernel(gradient)).value(), 2.0 * rows * in * out);
}

// With much work for each, groups cost what the grouped kernel loses, and half a tile of rows each: here half
// of 128 rows in 8192.
TEST(KernelTime, GroupsOfManyTokensCostLittleMore) {
    const CostProfile profile = h200();
    const Gemm one{.m = 65536, .n = 4096, .k = 4096}, eight{.m = 65536, .n = 4096, .k = 4096, .groups = 8};
    EXPECT_NEAR(gemm_time(eight, profile) / gemm_time(one, profile), 1.1 * (1 + 0.5 / 64), 0.03);
}

}  // namespace
}  // namespace wirewise
