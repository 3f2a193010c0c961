// Names, shapes and order of tensors: DDP buckets and sharding depend on the order in which modules are
// registered.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "model/transformer/read_config.hpp"

namespace wirewise {
namespace {

using nlohmann::json;
using Shape = std::vector<std::int64_t>;

std::vector<std::string> names(const std::vector<Parameter>& parameters) {
    std::vector<std::string> all;
    for (const auto& parameter : parameters) all.push_back(parameter.name);
    return all;
}

TEST(Tensors, OfLlamaStandInRegistrationOrder) {
    const Transformer model = load_model("llama-3.1-8b");
    const std::vector<std::string> expected{
        "self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight",
        "self_attn.o_proj.weight", "mlp.gate_proj.weight",    "mlp.up_proj.weight",
        "mlp.down_proj.weight",    "input_layernorm.weight",  "post_attention_layernorm.weight"};
    EXPECT_EQ(names(model.layer(0).parameters), expected);
    EXPECT_EQ(names(model.root_before), std::vector<std::string>{"model.embed_tokens.weight"});
    EXPECT_EQ(names(model.root_after), (std::vector<std::string>{"model.norm.weight", "lm_head.weight"}));
    EXPECT_EQ(find(model.layer(0).parameters, ParameterUse::key)->shape, (Shape{1024, 4096}));
}

TEST(Tensors, OfQwenHaveBiasesAfterTheirWeights) {
    const auto layer = names(load_model("qwen2.5-7b").layer(0).parameters);
    EXPECT_EQ(layer[0], "self_attn.q_proj.weight");
    EXPECT_EQ(layer[1], "self_attn.q_proj.bias");
    EXPECT_EQ(layer[6], "self_attn.o_proj.weight");
    EXPECT_EQ(layer[7], "mlp.gate_proj.weight");
}

TEST(Tensors, AParameterOfItsOwnComesBeforeChildren) {
    const Transformer model = load_model("gpt-oss-20b");
    const auto& layer = model.layer(0).parameters;
    EXPECT_EQ(layer[0].name, "self_attn.sinks");
    EXPECT_EQ(find(layer, ParameterUse::expert_down)->shape, (Shape{32, 2880, 2880}));
    EXPECT_EQ(find(layer, ParameterUse::expert_gate_up)->shape, (Shape{32, 2880, 5760}));
}

TEST(Tensors, OfGpt2AreStoredTransposed) {
    const Transformer model = load_model("gpt2");
    const Parameter* attention = find(model.layer(0).parameters, ParameterUse::query_key_value);
    EXPECT_TRUE(attention->transposed);
    EXPECT_EQ(attention->shape, (Shape{768, 2304}));
    EXPECT_EQ(names(model.root_before),
              (std::vector<std::string>{"transformer.wte.weight", "transformer.wpe.weight"}));
}

// OPT-350m: tables of half width, projections, norms after each half and none at the end.
TEST(Tensors, OfOptFollowItsOddities) {
    const Transformer small = load_model("opt-350m");
    EXPECT_EQ(find(small.root_before, ParameterUse::embedding)->shape, (Shape{50272, 512}));
    EXPECT_EQ(find(small.root_before, ParameterUse::embedding_projection)->shape, (Shape{1024, 512}));
    EXPECT_EQ(find(small.root_before, ParameterUse::norm), nullptr);
    EXPECT_TRUE(small.layer(0).post_norms);
    const Transformer usual = load_model("opt-1.3b");
    EXPECT_EQ(find(usual.root_before, ParameterUse::position_embedding)->shape, (Shape{2050, 2048}));
    EXPECT_NE(find(usual.root_before, ParameterUse::norm), nullptr);
}

TEST(Tensors, OfFalconFollowItsThreeForms) {
    const auto has = [](std::string_view model, std::string_view name) {
        const Transformer transformer = load_model(model);
        for (const auto& parameter : transformer.layer(0).parameters)
            if (parameter.name == name) return true;
        return false;
    };
    EXPECT_TRUE(has("falcon-rw-1b", "post_attention_layernorm.weight"));
    EXPECT_TRUE(has("falcon-rw-1b", "mlp.dense_h_to_4h.bias"));
    EXPECT_FALSE(has("falcon-7b", "post_attention_layernorm.weight"));
    EXPECT_TRUE(has("falcon-40b", "ln_mlp.weight"));
    EXPECT_EQ(load_model("falcon-7b").layer(0).attention.kv_heads, 1);
    EXPECT_EQ(load_model("falcon-40b").layer(0).attention.kv_heads, 8);
    EXPECT_EQ(load_model("falcon-rw-1b").position, PositionKind::alibi);
}

TEST(Tensors, OfDeepSeekAreLatent) {
    const Transformer model = load_model("deepseek-v3");
    const Layer& dense = model.layer(0);
    const Layer& routed = model.layer(3);
    EXPECT_EQ(find(dense.parameters, ParameterUse::kv_down)->shape, (Shape{576, 7168}));
    EXPECT_EQ(find(dense.parameters, ParameterUse::query_up)->shape, (Shape{24576, 1536}));
    EXPECT_FALSE(dense.mlp.routed());
    EXPECT_EQ(routed.mlp.experts, 256);
    EXPECT_EQ(routed.mlp.shared_intermediate, 2048);
    EXPECT_EQ(routed.attention.head_dim, 192);
    EXPECT_EQ(routed.attention.value_head_dim, 128);
    EXPECT_EQ(load_model("deepseek-v2-lite").layer(1).mlp.shared_intermediate, 2816);
}

// Every tensor of a checkpoint that another implementation wrote, by name and shape.
std::map<std::string, Shape> checkpoint(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::uint64_t bytes = 0;
    in.read(reinterpret_cast<char*>(&bytes), sizeof bytes);
    std::string header(bytes, ' ');
    in.read(header.data(), static_cast<std::streamsize>(bytes));
    std::map<std::string, Shape> tensors;
    const json entries = json::parse(header);
    for (const auto& [name, entry] : entries.items())
        if (name != "__metadata__") tensors[name] = entry.at("shape").get<Shape>();
    return tensors;
}

std::map<std::string, Shape> described(const Transformer& model) {
    std::map<std::string, Shape> tensors;
    for (const auto* root : {&model.root_before, &model.root_after})
        for (const auto& parameter : *root) tensors[parameter.name] = parameter.shape;
    for (std::int64_t index = 0; index < model.layer_count(); ++index)
        for (const auto& parameter : model.layer(index).parameters)
            tensors[fmt::format("{}.{}.{}", model.layers_module, index, parameter.name)] = parameter.shape;
    return tensors;
}

TEST(Tensors, EqualThoseOfReferenceCheckpoints) {
    const char* shared = std::getenv("WIREWISE_SHARED");
    const std::filesystem::path folder =
        std::filesystem::path(shared ? shared : WIREWISE_SOURCE_FOLDER "/../shared");
    if (!std::filesystem::exists(folder / "reference")) GTEST_SKIP() << "no " << folder / "reference";
    for (const auto* name : {"llama_tiny", "llama31_tiny", "mistral_tiny", "qwen2_tiny", "qwen3_tiny"}) {
        const auto model = folder / "reference" / name;
        EXPECT_EQ(described(load_model(model.string())), checkpoint(model / "model.safetensors")) << name;
    }
}

}  // namespace
}  // namespace wirewise
