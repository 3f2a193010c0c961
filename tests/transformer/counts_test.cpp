// Parameter counts against published ones, and against closed forms.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "model/transformer/parts.hpp"
#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

using nlohmann::json;

TEST(Counts, EqualThePublishedOnes) {
    const auto table = json::parse(std::ifstream(WIREWISE_FIXTURES "/published_counts.json"));
    ASSERT_GE(table.size(), 40u);
    for (const auto& row : table) {
        const auto name = row.at("model").get<std::string>();
        EXPECT_EQ(load_model(name).parameters(), row.at("parameters").get<std::int64_t>()) << name;
    }
}

TEST(Counts, ActiveLeavesOutTheExpertsThatRest) {
    const Transformer mixtral = load_model("mixtral-8x7b");
    constexpr std::int64_t kExpert = 3LL * 4096 * 14336;
    EXPECT_EQ(mixtral.active_parameters(), mixtral.parameters() - 32 * (8 - 2) * kExpert);
    const Transformer dense = load_model("llama-3.1-8b");
    EXPECT_EQ(dense.active_parameters(), dense.parameters());
}

// Expert biases belong to the experts.
TEST(Counts, GptOssActiveCountsItsExpertBiases) {
    const Transformer model = load_model("gpt-oss-20b");
    constexpr std::int64_t kExpert = 3LL * 2880 * 2880 + 3 * 2880;
    EXPECT_EQ(model.parameters() - model.active_parameters(), 24 * (32 - 4) * kExpert);
}

TEST(Counts, PartsAddUpForEveryBuiltIn) {
    for (const auto& builtin : builtin_models()) {
        const Transformer model = load_model(builtin.name);
        std::int64_t parameters = 0, active = 0;
        for (const auto& part : parameter_parts(model)) {
            EXPECT_NE(part.name, "other") << builtin.name;
            parameters += part.parameters, active += part.active;
        }
        EXPECT_EQ(parameters, model.parameters()) << builtin.name;
        EXPECT_EQ(active, model.active_parameters()) << builtin.name;
        EXPECT_LE(active, parameters) << builtin.name;
    }
}

struct Sizes {
    std::int64_t hidden, intermediate, layers, heads, kv_heads, head_dim, vocabulary;
    bool tied, attention_bias, mlp_bias;
};

Sizes any_sizes() {
    const auto kv_heads = *rc::gen::inRange<std::int64_t>(1, 9);
    return {.hidden = *rc::gen::inRange<std::int64_t>(1, 9000),
            .intermediate = *rc::gen::inRange<std::int64_t>(1, 30'000),
            .layers = *rc::gen::inRange<std::int64_t>(1, 130),
            .heads = kv_heads * *rc::gen::inRange<std::int64_t>(1, 17),
            .kv_heads = kv_heads,
            .head_dim = *rc::gen::inRange<std::int64_t>(1, 257),
            .vocabulary = *rc::gen::inRange<std::int64_t>(1, 300'000),
            .tied = *rc::gen::arbitrary<bool>(),
            .attention_bias = *rc::gen::arbitrary<bool>(),
            .mlp_bias = *rc::gen::arbitrary<bool>()};
}

json llama(const Sizes& sizes) {
    return {{"model_type", "llama"},
            {"hidden_size", sizes.hidden},
            {"intermediate_size", sizes.intermediate},
            {"num_hidden_layers", sizes.layers},
            {"num_attention_heads", sizes.heads},
            {"num_key_value_heads", sizes.kv_heads},
            {"head_dim", sizes.head_dim},
            {"vocab_size", sizes.vocabulary},
            {"tie_word_embeddings", sizes.tied},
            {"attention_bias", sizes.attention_bias},
            {"mlp_bias", sizes.mlp_bias}};
}

// One layer: q and o, k and v, three MLP matrices, two norms; biases where asked.
std::int64_t layer_closed_form(const Sizes& s) {
    const auto query = s.heads * s.head_dim, key = s.kv_heads * s.head_dim;
    std::int64_t count =
        2 * s.hidden * query + 2 * s.hidden * key + 3 * s.hidden * s.intermediate + 2 * s.hidden;
    if (s.attention_bias) count += query + 2 * key + s.hidden;
    if (s.mlp_bias) count += 2 * s.intermediate + s.hidden;
    return count;
}

TEST(Counts, LlamaEqualsItsClosedForm) {
    EXPECT_TRUE(rc::check([] {
        const Sizes sizes = any_sizes();
        const auto table = sizes.vocabulary * sizes.hidden;
        const auto expected =
            sizes.layers * layer_closed_form(sizes) + sizes.hidden + (sizes.tied ? 1 : 2) * table;
        RC_ASSERT(read_config(llama(sizes), "config").parameters() == expected);
    }));
}

TEST(Counts, OneMoreLayerAddsExactlyOneLayer) {
    EXPECT_TRUE(rc::check([] {
        const Sizes sizes = any_sizes();
        Sizes longer = sizes;
        ++longer.layers;
        const Transformer before = read_config(llama(sizes), "config");
        const Transformer after = read_config(llama(longer), "config");
        RC_ASSERT(after.parameters() - before.parameters() == before.layer(0).parameter_count());
        RC_ASSERT(before.layer(0).parameter_count() == layer_closed_form(sizes));
    }));
}

}  // namespace
}  // namespace wirewise
