// DeepSeek V2 and V3 (and Kimi K2): latent attention (MLA) and fine-grained experts after some dense layers.
// GLM-4.5 has the same experts over plain attention.
#include <fmt/format.h>

#include "model/transformer/experts.hpp"
#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kLatentAttention{
    linear("self_attn.q_proj", Use::query, W::query, W::hidden, trait::never, trait::full_query),
    linear("self_attn.q_a_proj", Use::query_down, W::query_rank, W::hidden, trait::query_bias,
           trait::low_rank_query),
    head_norm("self_attn.q_a_layernorm", W::query_rank, trait::never, trait::low_rank_query),
    linear("self_attn.q_b_proj", Use::query_up, W::query, W::query_rank, trait::never, trait::low_rank_query),
    linear("self_attn.kv_a_proj_with_mqa", Use::kv_down, W::kv_down, W::hidden, trait::query_bias),
    head_norm("self_attn.kv_a_layernorm", W::kv_rank, trait::never, trait::always),
    linear("self_attn.kv_b_proj", Use::kv_up, W::kv_up, W::kv_rank),
    linear("self_attn.o_proj", Use::attention_output, W::hidden, W::output, trait::output_bias)};
constexpr std::array kStacks{
    stacked("mlp.experts.gate_up_proj", Use::expert_gate_up, W::expert_gate_up, W::hidden),
    stacked("mlp.experts.down_proj", Use::expert_down, W::hidden, W::expert)};
constexpr std::array kRouter{
    linear("mlp.gate", Use::router, W::experts, W::hidden, trait::never, trait::routed)};
constexpr std::array kShared{
    linear("mlp.shared_experts.gate_proj", Use::shared_gate, W::shared, W::hidden, trait::never,
           trait::shared),
    linear("mlp.shared_experts.up_proj", Use::shared_up, W::shared, W::hidden, trait::never, trait::shared),
    linear("mlp.shared_experts.down_proj", Use::shared_down, W::hidden, W::shared, trait::never,
           trait::shared)};
constexpr auto kDeepseekLayer = joined(kLatentAttention, kGatedMlp, kStacks, kRouter, kShared, kTwoNorms);
constexpr auto kGlmLayer = joined(
    kQueryKeyValue, std::array{linear("self_attn.o_proj", Use::attention_output, W::hidden, W::output)},
    kNormPerHead, kGatedMlp, kStacks, kRouter, kShared, kTwoNorms);

// What the configuration classes assume.
struct FineGrained {
    std::int64_t first_dense, shared_experts;
    bool correction;  // the router has a correction bias, which transformers keeps as a buffer
};

// Null means no shared expert; several are one MLP of their joint width.
std::int64_t shared_width(ConfigKeys& keys, const Blueprint& blueprint, std::int64_t fallback) {
    if (keys.is_null({"n_shared_experts"})) return 0;
    const auto count = keys.integer_or({"n_shared_experts"}, fallback, class_default(blueprint), {0, 1024});
    return count * blueprint.expert.intermediate;
}

// Dense layers first, then each moe_layer_freq-th routes.
void read_fine_grained(ConfigKeys& keys, Blueprint& blueprint, FineGrained assumed) {
    read_experts(keys, blueprint, {.experts = {"n_routed_experts", "num_local_experts"}});
    const auto dense = keys.integer_or({"first_k_dense_replace"}, assumed.first_dense,
                                       class_default(blueprint), {0, 10'000});
    const auto step = keys.integer_or({"moe_layer_freq"}, 1, "every layer");
    route_layers(blueprint, [&](std::int64_t index) { return index >= dense && index % step == 0; });
    blueprint.expert.shared_intermediate = shared_width(keys, blueprint, assumed.shared_experts);
    auto& notes = blueprint.model.notes;
    if (keys.has("num_nextn_predict_layers"))
        notes.push_back("next-token-prediction layers (num_nextn_predict_layers) are not counted");
    if (assumed.correction)
        notes.push_back("the routers' e_score_correction_bias is a buffer, not a parameter: not counted");
}

// The published files say null or nothing where q is not compressed.
void read_query_rank(ConfigKeys& keys, Blueprint& blueprint) {
    const auto rank = keys.optional_integer({"q_lora_rank"});
    if (!rank && !keys.is_null({"q_lora_rank"}))
        keys.note_default("q_lora_rank", "null", "no compression of q");
    blueprint.widths[W::query_rank] = rank.value_or(0);
    blueprint.traits |= rank ? trait::low_rank_query : trait::full_query;
}

void read_latent_attention(ConfigKeys& keys, Blueprint& blueprint) {
    const Range dimension{1, 65'536};
    auto& attention = blueprint.attention;
    auto& widths = blueprint.widths;
    const auto plain = keys.integer({"qk_nope_head_dim"}, dimension);
    const auto rotary = keys.integer({"qk_rope_head_dim"}, dimension);
    attention.latent = true;
    attention.head_dim = plain + rotary;
    attention.rotary_dim = rotary;
    attention.value_head_dim = keys.integer({"v_head_dim"}, dimension);
    attention.kv_heads = attention.heads;  // num_key_value_heads says nothing here
    widths[W::kv_rank] = keys.integer({"kv_lora_rank"});
    widths[W::kv_down] = widths[W::kv_rank] + rotary;
    widths[W::kv_up] = attention.heads * (plain + attention.value_head_dim);
    read_query_rank(keys, blueprint);
}

Family deepseek(std::string_view model_type, std::string_view config_class, FineGrained assumed) {
    Family family{.model_type = model_type, .config_class = config_class};
    family.spelling.kv_heads = {};
    family.head_dimension = HeadDimension::latent;
    family.mixture = true;
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.before = kTokenTable, family.layer = kDeepseekLayer, family.after = kNormAndHead;
    family.refine = [assumed](ConfigKeys& keys, Blueprint& blueprint) {
        read_latent_attention(keys, blueprint);
        read_fine_grained(keys, blueprint, assumed);
    };
    return family;
}

Family deepseek_v2() { return deepseek("deepseek_v2", "DeepseekV2Config", {0, 2, false}); }

Family deepseek_v3() {
    Family family = deepseek("deepseek_v3", "DeepseekV3Config", {3, 1, true});
    family.defaults.max_position = 4096;
    return family;
}

Family kimi_k2() {
    Family family = deepseek_v3();
    family.model_type = "kimi_k2";
    return family;
}

Family glm4_moe() {
    Family family{.model_type = "glm4_moe", .config_class = "Glm4MoeConfig"};
    family.defaults = {.kv_heads = 8, .max_position = 131'072, .epsilon = 1e-5};
    family.mixture = true;
    family.switches = {{trait::query_bias, "attention_bias", false},
                       {trait::head_norm, "use_qk_norm", false}};
    family.before = kTokenTable, family.layer = kGlmLayer, family.after = kNormAndHead;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"partial_rotary_factor"}, 0.5);
        read_fine_grained(keys, blueprint, {1, 1, true});
    };
    return family;
}
}  // namespace

std::vector<Family> deepseek_families() { return {deepseek_v2(), deepseek_v3(), kimi_k2(), glm4_moe()}; }

}  // namespace wirewise
