// What a config leaves out is filled as transformers' class would, and every such key is listed with its
// origin.
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

using nlohmann::json;

const DefaultedKey* defaulted(const Transformer& model, std::string_view key) {
    const auto found = std::ranges::find(model.defaulted_keys, key, &DefaultedKey::key);
    return found == model.defaulted_keys.end() ? nullptr : &*found;
}

json least(std::string_view model_type) {
    return {{"model_type", model_type}, {"hidden_size", 64},        {"intermediate_size", 128},
            {"num_hidden_layers", 2},   {"num_attention_heads", 8}, {"vocab_size", 100}};
}

TEST(Defaults, AreListedWithTheirOrigin) {
    const Transformer model = read_config(least("llama"), "config");
    ASSERT_NE(defaulted(model, "num_key_value_heads"), nullptr);
    EXPECT_EQ(defaulted(model, "num_key_value_heads")->value, "8");
    EXPECT_EQ(defaulted(model, "num_key_value_heads")->from, "num_attention_heads");
    EXPECT_EQ(defaulted(model, "head_dim")->from, "hidden_size / num_attention_heads");
    EXPECT_EQ(defaulted(model, "tie_word_embeddings")->value, "false");
    EXPECT_EQ(defaulted(model, "tie_word_embeddings")->from, "LlamaConfig default");
    EXPECT_EQ(defaulted(model, "hidden_size"), nullptr);
}

TEST(Defaults, OfKeyValueHeadsDifferWhenAbsentOrNull) {
    json config = least("mistral");
    config["num_attention_heads"] = 16;
    EXPECT_EQ(read_config(config, "config").layer(0).attention.kv_heads, 8);  // MistralConfig's own
    config["num_key_value_heads"] = nullptr;
    EXPECT_EQ(read_config(config, "config").layer(0).attention.kv_heads, 16);
}

TEST(Defaults, OfTiedTablesFollowTheClass) {
    for (const auto* type : {"llama", "mistral", "granite", "olmo2", "phi3"})
        EXPECT_FALSE(read_config(least(type), "config").tied_embeddings) << type;
    for (const auto* type : {"gemma2", "cohere", "starcoder2", "minicpm", "smollm3"})
        EXPECT_TRUE(read_config(least(type), "config").tied_embeddings) << type;
}

TEST(Defaults, AreNeverMadeUpForSizes) {
    for (const auto* key :
         {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}) {
        json config = least("llama");
        config.erase(key);
        try {
            read_config(config, "config");
            ADD_FAILURE() << key;
        } catch (const InputError& error) {
            EXPECT_EQ(error.place(), std::string("config:/") + key);
            EXPECT_EQ(error.problem(), "is missing");
        }
    }
}

// Qwen2Config assumes 32 key and value heads; for a model of 8 heads that is no size at all.
TEST(Defaults, ThatDoNotFitAreRefused) {
    try {
        read_config(least("qwen2"), "config");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(error.problem().find("is missing, and the class assumes 32"), std::string::npos)
            << error.what();
    }
}

// The file of the 4-billion Gemma 3 leaves heads, head dimension and vocabulary to the class.
TEST(Defaults, OfNestedTextConfigsCountToo) {
    const json config{{"model_type", "gemma3"},
                      {"torch_dtype", "bfloat16"},
                      {"vision_config", json::object()},
                      {"text_config",
                       {{"model_type", "gemma3_text"},
                        {"hidden_size", 2560},
                        {"intermediate_size", 10240},
                        {"num_hidden_layers", 34},
                        {"sliding_window", 1024}}}};
    const Transformer model = read_config(config, "config");
    EXPECT_EQ(model.parameters(), 3'880'263'168);
    EXPECT_EQ(defaulted(model, "vocab_size")->value, "262208");
    EXPECT_EQ(model.stored_dtype, DType::bf16);
    EXPECT_FALSE(model.notes.empty());
}

TEST(Defaults, OldPhiNamesAreMapped) {
    const json config{{"model_type", "phi-msft"},
                      {"n_embd", 2560},
                      {"n_head", 32},
                      {"n_head_kv", nullptr},
                      {"n_inner", nullptr},
                      {"n_layer", 32},
                      {"n_positions", 2048},
                      {"rotary_dim", 32},
                      {"vocab_size", 51200},
                      {"layer_norm_epsilon", 1e-5},
                      {"activation_function", "gelu_new"}};
    EXPECT_EQ(read_config(config, "config").parameters(), load_model("phi-2").parameters());
}

TEST(Overrides, ReplaceAddAndNest) {
    EXPECT_EQ(load_model("llama-3.1-8b", {"num_hidden_layers=8"}).layer_count(), 8);
    EXPECT_EQ(load_model("llama-3.1-8b", {"rope_scaling.factor=16.0"}).rope_scaling.factor, 16);
    EXPECT_EQ(load_model("llama-3.1-8b", {"hidden_act=gelu"}).layer(0).mlp.activation, Activation::gelu);
    EXPECT_EQ(load_model("llama-3.1-8b", {"rope_scaling=null"}).rope_scaling.kind, "default");
}

TEST(Overrides, OfTheNumberOfLayersFitListsByLayer) {
    const std::string types = R"(layer_types=["sliding_attention","full_attention"])";
    const Transformer model = load_model("gpt-oss-20b", {types, "num_hidden_layers=6"});
    EXPECT_EQ(model.layer(4).attention.window, 128);
    EXPECT_EQ(model.layer(5).attention.window, 0);
    EXPECT_NE(
        std::ranges::find_if(model.notes, [](const auto& note) { return note.starts_with("layer_types"); }),
        model.notes.end());
    EXPECT_THROW(load_model("gpt-oss-20b", {types}), InputError);
}

}  // namespace
}  // namespace wirewise
