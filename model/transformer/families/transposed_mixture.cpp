// Mixtures whose experts are stored [experts, in, out]: gpt-oss (sinks, biases everywhere) and Llama 4 (a
// shared expert, dense layers in between, layers without positions).
#include <algorithm>

#include "model/transformer/experts.hpp"
#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr Row stored_in_out(Row row) {
    row.transposed = true;
    return row;
}
constexpr Row expert_bias(std::string_view name, Use owner, Width width) {
    Row row = stacked(name, Use::bias, width, W::none);
    row.owner = owner;
    return row;
}
constexpr std::array kSinks{
    Row{.name = "self_attn.sinks", .use = Use::sinks, .shape = {W::heads}, .bare = true}};
constexpr std::array kOssExperts{
    linear("mlp.router", Use::router, W::experts, W::hidden, trait::always),
    stored_in_out(stacked("mlp.experts.gate_up_proj", Use::expert_gate_up, W::hidden, W::expert_gate_up)),
    expert_bias("mlp.experts.gate_up_proj_bias", Use::expert_gate_up, W::expert_gate_up),
    stored_in_out(stacked("mlp.experts.down_proj", Use::expert_down, W::expert, W::hidden)),
    expert_bias("mlp.experts.down_proj_bias", Use::expert_down, W::hidden)};
constexpr auto kOssLayer = joined(kSinks, kAttention, kOssExperts, kTwoNorms);

constexpr std::array kLlama4Mlp{
    stored_in_out(
        stacked("feed_forward.experts.gate_up_proj", Use::expert_gate_up, W::hidden, W::expert_gate_up)),
    stored_in_out(stacked("feed_forward.experts.down_proj", Use::expert_down, W::expert, W::hidden)),
    linear("feed_forward.router", Use::router, W::experts, W::hidden, trait::never, trait::routed),
    linear("feed_forward.shared_expert.gate_proj", Use::shared_gate, W::shared, W::hidden, trait::never,
           trait::shared),
    linear("feed_forward.shared_expert.up_proj", Use::shared_up, W::shared, W::hidden, trait::never,
           trait::shared),
    linear("feed_forward.shared_expert.down_proj", Use::shared_down, W::hidden, W::shared, trait::never,
           trait::shared),
    linear("feed_forward.gate_proj", Use::gate, W::intermediate, W::hidden, trait::never, trait::dense),
    linear("feed_forward.up_proj", Use::up, W::intermediate, W::hidden, trait::never, trait::dense),
    linear("feed_forward.down_proj", Use::down, W::hidden, W::intermediate, trait::never, trait::dense)};
constexpr auto kLlama4Layer = joined(kAttention, kLlama4Mlp, kTwoNorms);

Family common(std::string_view model_type, std::string_view config_class, Rows layer) {
    Family family{.model_type = model_type, .config_class = config_class};
    family.mixture = true;
    family.before = kTokenTable, family.layer = layer, family.after = kNormAndHead;
    return family;
}

Family gpt_oss() {
    Family family = common("gpt_oss", "GptOssConfig", kOssLayer);
    family.defaults = {
        .kv_heads = 8, .head_dim = 64, .max_position = 131'072, .epsilon = 1e-5, .rope_theta = 150'000};
    family.switches = {{kAttentionBias, "attention_bias", true}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        read_experts(keys, blueprint,
                     {.experts = {"num_local_experts", "num_experts"},
                      .top_k = {"num_experts_per_tok", "experts_per_token"},
                      .width = {}});
        route_layers(blueprint, [](std::int64_t) { return true; });
        slide_some_layers(keys, blueprint, 128, [](std::int64_t index) { return index % 2 == 0; });
    };
    return family;
}

// Layers that rotate see one chunk, the others everything.
void chunk_llama4(ConfigKeys& keys, Blueprint& blueprint) {
    skip_rotation(keys, blueprint);
    if (keys.is_null({"attention_chunk_size"})) return;
    const auto chunk = keys.integer_or({"attention_chunk_size"}, 8192, class_default(blueprint));
    for (auto& layer : blueprint.layers)
        if (layer.rotary) layer.window = chunk, layer.chunked = true;
}

// One shared expert as wide as a routed one; dense layers have a width of their own.
void refine_llama4(ConfigKeys& keys, Blueprint& blueprint) {
    read_experts(keys, blueprint, {.experts = {"num_local_experts", "num_experts"}, .width = {}});
    blueprint.expert.shared_intermediate = blueprint.expert.intermediate;
    blueprint.mlp.intermediate = keys.integer_or({"intermediate_size_mlp"}, 16'384, class_default(blueprint));
    if (const auto listed = keys.integers("moe_layers"); listed && !listed->empty()) {
        route_layers(blueprint,
                     [&](std::int64_t index) { return std::ranges::find(*listed, index) != listed->end(); });
    } else {
        const auto step = keys.integer_or({"interleave_moe_layer_step"}, 1, class_default(blueprint));
        route_layers(blueprint, [step](std::int64_t index) { return (index + 1) % step == 0; });
    }
    chunk_llama4(keys, blueprint);
}

// Its q and k norms (use_qk_norm) have no parameters.
Family llama4() {
    Family family = common("llama4_text", "Llama4TextConfig", kLlama4Layer);
    family.defaults = {
        .kv_heads = 8, .head_dim = 128, .max_position = 131'072, .epsilon = 1e-5, .rope_theta = 500'000};
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.refine = refine_llama4;
    return family;
}

}  // namespace

std::vector<Family> transposed_mixture_families() { return {gpt_oss(), llama4()}; }

}  // namespace wirewise
