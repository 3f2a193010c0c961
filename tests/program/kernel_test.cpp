#include "model/program/kernel.hpp"

#include <gtest/gtest.h>

namespace wirewise {
namespace {

constexpr Attention kAttention{
    .batch = 2, .sequence = 1024, .heads = 8, .kv_heads = 2, .head_dim = 64, .value_head_dim = 64};

TEST(Flops, OfGemmAreTwoPerMultiplyAdd) {
    EXPECT_EQ(flops_of(Gemm{.m = 3, .n = 5, .k = 7}).value(), 2.0 * 3 * 5 * 7);
}

TEST(Flops, OfCausalAttentionCountHalfTheSquare) {
    const double full = 4.0 * 2 * 8 * 1024 * 1024 * 64;  // q k and p v over the whole square
    EXPECT_EQ(flops_of(kAttention).value(), full / 2);
    Attention backward = kAttention;
    backward.backward = true;
    EXPECT_EQ(flops_of(backward).value(), full / 2 * 2.5);
}

TEST(Flops, OfAWindowCountThePairsInside) {
    Attention narrow = kAttention, wide = kAttention;
    narrow.window = 128;
    wide.window = 4096;
    EXPECT_EQ(flops_of(wide), flops_of(kAttention));
    const double pairs = 128.0 * 1024 - 128.0 * 128 / 2;
    EXPECT_EQ(flops_of(narrow).value(), pairs * 2 * 8 * 4 * 64);
}

TEST(Flops, OfMemoryBoundKernelsAreNone) {
    EXPECT_EQ(flops_of(Pointwise{.rows = 4, .columns = 4}).value(), 0);
    EXPECT_EQ(flops_of(OptimizerUpdate{.count = 100}).value(), 0);
}

TEST(Kernel, HashTellsKernelsApart) {
    const Gemm gemm{.m = 3, .n = 5, .k = 7};
    Gemm swapped = gemm;
    std::swap(swapped.m, swapped.n);
    EXPECT_EQ(hash_of(gemm), hash_of(Gemm(gemm)));
    EXPECT_NE(hash_of(gemm), hash_of(swapped));
    EXPECT_NE(hash_of(Pointwise{}), hash_of(OptimizerUpdate{}));
}

TEST(Kernel, EveryNameIsTold) {
    for (int kind = 0; kind <= static_cast<int>(PointwiseKind::eager); ++kind)
        EXPECT_FALSE(name_of(static_cast<PointwiseKind>(kind)).empty()) << kind;
    EXPECT_EQ(name_of(PointwiseKind::clip_scale), "clip_scale");
    EXPECT_EQ(name_of(PointwiseKind::eager), "eager");
    EXPECT_EQ(name_of(OptimizerKind::sgd), "sgd");
    EXPECT_EQ(name_of(ActivationKind::relu_squared), "relu_squared");
}

}  // namespace
}  // namespace wirewise
