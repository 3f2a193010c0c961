// Windows, rotation and FLOPs: what the kernels of a layer depend on besides its tensors.
#include <gtest/gtest.h>

#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

std::vector<std::int64_t> windows(const Transformer& model, std::int64_t layers) {
    std::vector<std::int64_t> all;
    for (std::int64_t index = 0; index < layers; ++index) all.push_back(model.layer(index).attention.window);
    return all;
}
using Windows = std::vector<std::int64_t>;

TEST(Attention, WindowsFollowTheFamily) {
    EXPECT_EQ(windows(load_model("mistral-7b"), 2), (Windows{4096, 4096}));
    EXPECT_EQ(windows(load_model("mistral-7b-v0.3"), 2), (Windows{0, 0}));
    EXPECT_EQ(windows(load_model("gemma-2-2b"), 4), (Windows{4096, 0, 4096, 0}));
    EXPECT_EQ(windows(load_model("gemma-3-1b"), 7), (Windows{512, 512, 512, 512, 512, 0, 512}));
    EXPECT_EQ(windows(load_model("gpt-oss-20b"), 3), (Windows{128, 0, 128}));
    EXPECT_EQ(windows(load_model("qwen2.5-7b", {"sliding_window=4096"}), 2), (Windows{0, 0}));
    EXPECT_EQ(windows(load_model("gpt-neo-2.7b"), 3), (Windows{0, 256, 0}));
}

TEST(Attention, QwenSlidesFromMaxWindowLayersUp) {
    const Transformer model =
        load_model("qwen2.5-7b", {"use_sliding_window=true", "sliding_window=1024", "max_window_layers=26"});
    EXPECT_EQ(model.layer(25).attention.window, 0);
    EXPECT_EQ(model.layer(26).attention.window, 1024);
    EXPECT_EQ(model.kinds.size(), 2u);
}

TEST(Attention, LayersWithoutPositionsDoNotRotate) {
    const Transformer smollm = load_model("smollm3-3b");
    EXPECT_EQ(smollm.layer(2).attention.rotary_dim, 128);
    EXPECT_EQ(smollm.layer(3).attention.rotary_dim, 0);
    const Transformer llama4 = load_model("llama-4-maverick");
    EXPECT_TRUE(llama4.layer(0).attention.chunked);
    EXPECT_EQ(llama4.layer(3).attention.window, 0);
    EXPECT_FALSE(llama4.layer(0).mlp.routed());
    EXPECT_TRUE(llama4.layer(1).mlp.routed());
}

TEST(Attention, RotatesThePartThatTheConfigSays) {
    EXPECT_EQ(load_model("phi-2").layer(0).attention.rotary_dim, 32);
    EXPECT_EQ(load_model("pythia-160m").layer(0).attention.rotary_dim, 16);
    EXPECT_EQ(load_model("gpt-j-6b").layer(0).attention.rotary_dim, 64);
    EXPECT_EQ(load_model("llama-3.1-8b").layer(0).attention.rotary_dim, 128);
}

TEST(Attention, ReadsRopeInBothSpellings) {
    const Transformer old = load_model("llama-3.1-8b");
    EXPECT_EQ(old.rope_scaling.kind, "llama3");
    EXPECT_EQ(old.rope_scaling.factor, 8);
    EXPECT_EQ(old.rope_theta, 500'000);
    const Transformer recent = load_model(
        "llama-3.1-8b", {"rope_scaling=null", "rope_theta=null",
                         R"(rope_parameters={"rope_type":"llama3","rope_theta":5e5,"factor":8.0})"});
    EXPECT_EQ(recent.rope_scaling.kind, "llama3");
    EXPECT_EQ(recent.rope_theta, 500'000);
}

// 6 per weight that multiplies (head included, token table not) and 6 x layers x width x sequence for
// attention.
TEST(Flops, OfADenseModelEqualTheClosedForm) {
    const Transformer model = load_model("llama-3.1-8b");
    const double norms = 65 * 4096, table = 128256.0 * 4096;
    const double weights = static_cast<double>(model.parameters()) - norms - table;
    EXPECT_DOUBLE_EQ(model_flops_per_token(model, 4096), 6 * weights + 6.0 * 32 * 4096 * 4096);
}

TEST(Flops, CountATiedHeadAndOnlyActiveExperts) {
    const Transformer tied = load_model("llama-3.2-1b");
    const Transformer untied = load_model("llama-3.2-1b", {"tie_word_embeddings=false"});
    EXPECT_DOUBLE_EQ(model_flops_per_token(tied, 2048), model_flops_per_token(untied, 2048));
    const double mixtral = model_flops_per_token(load_model("mixtral-8x7b"), 1);
    EXPECT_NEAR(mixtral / (6.0 * 12'879'925'248.0), 1, 0.02);
}

TEST(Flops, RespectWindows) {
    const double full = model_flops_per_token(load_model("mistral-7b", {"sliding_window=null"}), 16'384);
    const double slid = model_flops_per_token(load_model("mistral-7b"), 16'384);
    // 32 layers x 2 x 4096 wide x 6 x (8192 - (4096 - 4096^2 / (2 x 16384)))
    EXPECT_DOUBLE_EQ(full - slid, 32.0 * 8192 * 6 * (8192 - (4096 - 512)));
}

}  // namespace
}  // namespace wirewise
