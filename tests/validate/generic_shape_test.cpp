// Sizes that reports state, and the Llama that stands for them.
#include "calibration/cases/generic_shape.hpp"

#include <gtest/gtest.h>

namespace wirewise::test {
namespace {

TEST(GenericShape, SizesInNames) {
    EXPECT_DOUBLE_EQ(parameters_in("Qwen/Qwen3.8-27B"), 27e9);
    EXPECT_DOUBLE_EQ(parameters_in("1.5B model"), 1.5e9);
    EXPECT_DOUBLE_EQ(parameters_in("llama-7b"), 7e9);
    EXPECT_DOUBLE_EQ(parameters_in("Llama-2 style 2B ('llama2b')"), 2e9);
    EXPECT_DOUBLE_EQ(parameters_in("OLMo 1 B"), 1e9);
    EXPECT_EQ(parameters_in("~166 MB model"), 0);
    EXPECT_EQ(parameters_in("Mixtral-8x7B"), 0);
    EXPECT_EQ(parameters_in("gpt2"), 0);
    EXPECT_EQ(parameters_in("8bit optimizer"), 0);
    EXPECT_EQ(parameters_in(""), 0);
}

// LLaMA's own sizes (arXiv 2302.13971, table 2).
TEST(GenericShape, IsALlama) {
    const GenericShape seven = llama_of(6.74e9, 32000, 0), thirteen = llama_of(13.0e9, 32000, 0);
    EXPECT_EQ(seven.hidden, 4096);
    EXPECT_EQ(seven.layers, 32);
    EXPECT_EQ(seven.heads, 32);
    EXPECT_EQ(seven.ffn, 11008);
    EXPECT_EQ(thirteen.hidden, 5120);
    EXPECT_NEAR(static_cast<double>(thirteen.layers), 40, 1);
}

TEST(GenericShape, AStatedWidthLeavesTheDepth) {
    const GenericShape shape = llama_of(27e9, 248320, 5120);
    EXPECT_EQ(shape.hidden, 5120);
    EXPECT_EQ(shape.layers, 78);
}

TEST(GenericShape, TinySizesStillHaveALayer) {
    EXPECT_EQ(llama_of(1e6, 32000, 0).layers, 1);
    EXPECT_GE(llama_of(1e6, 32000, 0).hidden, 128);
}

}  // namespace
}  // namespace wirewise::test
