// Mixtures of experts over plain attention. Experts are stacked tensors, as transformers 5 has them; the
// counts are those of the older one-module-an-expert form.
#include <algorithm>

#include "model/transformer/experts.hpp"
#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kRouted{
    linear("mlp.gate", Use::router, W::experts, W::hidden, trait::never, trait::routed),
    stacked("mlp.experts.gate_up_proj", Use::expert_gate_up, W::expert_gate_up, W::hidden),
    stacked("mlp.experts.down_proj", Use::expert_down, W::hidden, W::expert)};
constexpr std::array kSharedExpert{
    linear("mlp.shared_expert.gate_proj", Use::shared_gate, W::shared, W::hidden, trait::never,
           trait::shared),
    linear("mlp.shared_expert.up_proj", Use::shared_up, W::shared, W::hidden, trait::never, trait::shared),
    linear("mlp.shared_expert.down_proj", Use::shared_down, W::hidden, W::shared, trait::never,
           trait::shared),
    linear("mlp.shared_expert_gate", Use::shared_router, W::one, W::hidden, trait::never, trait::shared)};
constexpr auto kMixtralLayer = joined(kAttention, kRouted, kTwoNorms);
constexpr auto kQwenLayer = joined(kAttention, kNormPerHead, kGatedMlp, kRouted, kSharedExpert, kTwoNorms);
constexpr auto kFullNormLayer = joined(kAttention, kNormFullWidth, kRouted, kTwoNorms);

constexpr std::array kGraniteExperts{
    linear("block_sparse_moe.router.layer", Use::router, W::experts, W::hidden)};
constexpr Row granite_stack(std::string_view name, Use use, Width a, Width b) {
    Row row = stacked(name, use, a, b);
    row.bare = false;
    return row;
}
constexpr auto kGraniteLayer = joined(
    kAttention, kTwoNorms,
    std::array{
        granite_stack("block_sparse_moe.input_linear", Use::expert_gate_up, W::expert_gate_up, W::hidden),
        granite_stack("block_sparse_moe.output_linear", Use::expert_down, W::hidden, W::expert)},
    kGraniteExperts,
    std::array{linear("shared_mlp.input_linear", Use::shared_gate_up, W::shared_gate_up, W::hidden,
                      trait::never, trait::shared),
               linear("shared_mlp.output_linear", Use::shared_down, W::hidden, W::shared, trait::never,
                      trait::shared)});

const ExpertKeys kLocalExperts{.experts = {"num_local_experts", "num_experts"}, .width = {}};
const ExpertKeys kQwenExperts{.experts = {"num_experts"}};

Family common(std::string_view model_type, std::string_view config_class, Rows layer) {
    Family family{.model_type = model_type, .config_class = config_class};
    family.mixture = true;
    family.before = kTokenTable, family.layer = layer, family.after = kNormAndHead;
    return family;
}

void route_all(Blueprint& blueprint) {
    route_layers(blueprint, [](std::int64_t) { return true; });
}

Family mixtral() {
    Family family = common("mixtral", "MixtralConfig", kMixtralLayer);
    family.defaults = {.kv_heads = 8, .max_position = 131'072, .epsilon = 1e-5, .rope_theta = 1e6};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        read_experts(keys, blueprint, kLocalExperts);
        route_all(blueprint);
        slide_every_layer(keys, blueprint, 0);
    };
    return family;
}

// Each decoder_sparse_step-th layer routes, except those in mlp_only_layers.
void route_qwen(ConfigKeys& keys, Blueprint& blueprint) {
    const auto step = keys.integer_or({"decoder_sparse_step"}, 1, class_default(blueprint));
    const auto dense = keys.integers("mlp_only_layers").value_or(std::vector<std::int64_t>{});
    route_layers(blueprint, [&](std::int64_t index) {
        return (index + 1) % step == 0 && std::ranges::find(dense, index) == dense.end();
    });
    read_experts(keys, blueprint, kQwenExperts);
    slide_upper_layers(keys, blueprint);
}

Family qwen2_moe() {
    Family family = common("qwen2_moe", "Qwen2MoeConfig", kQwenLayer);
    family.defaults = {.intermediate = 5632, .kv_heads = 16, .max_position = 32'768};
    family.switches = {{trait::query_bias, "qkv_bias", true}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        route_qwen(keys, blueprint);
        blueprint.expert.shared_intermediate = keys.integer({"shared_expert_intermediate_size"});
    };
    return family;
}

Family qwen3_moe() {
    Family family = common("qwen3_moe", "Qwen3MoeConfig", kQwenLayer);
    family.defaults = {.intermediate = 6144, .kv_heads = 4, .max_position = 32'768};
    family.traits = trait::head_norm;
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.refine = route_qwen;
    return family;
}

Family olmoe() {
    Family family = common("olmoe", "OlmoeConfig", kFullNormLayer);
    family.defaults = {.max_position = 4096, .epsilon = 1e-5};
    family.traits = trait::head_norm;
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        read_experts(keys, blueprint, {.experts = {"num_experts", "num_local_experts"}, .width = {}});
        route_all(blueprint);
    };
    return family;
}

Family granitemoe() {
    Family family = common("granitemoe", "GraniteMoeConfig", kGraniteLayer);
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        read_experts(keys, blueprint, kLocalExperts);
        route_all(blueprint);
    };
    return family;
}

Family granitemoeshared() {
    Family family = granitemoe();
    family.model_type = "granitemoeshared", family.config_class = "GraniteMoeSharedConfig";
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        read_experts(keys, blueprint, kLocalExperts);
        route_all(blueprint);
        blueprint.expert.shared_intermediate =
            keys.integer_or({"shared_intermediate_size"}, 1024, class_default(blueprint), {0, 1 << 24});
    };
    return family;
}

void refine_minimax(ConfigKeys& keys, Blueprint& blueprint) {
    read_experts(keys, blueprint, kLocalExperts);
    route_all(blueprint);
    rotate_dimensions(keys, blueprint, blueprint.attention.head_dim);
    if (keys.has("qk_norm_type") && keys.text_or({"qk_norm_type"}, "", "") != "per_layer")
        keys.refuse("qk_norm_type", "is not per_layer: not modelled", "write \"per_layer\"");
    if (keys.optional_integer({"shared_intermediate_size"}, {0, 1 << 24}).value_or(0) > 0)
        keys.refuse("shared_intermediate_size", "is not 0: shared experts are not modelled for this family",
                    "write 0");
    blueprint.model.notes.push_back(
        "the routers' e_score_correction_bias is a buffer, not a parameter: not counted");
    if (keys.has("use_mtp"))
        blueprint.model.notes.push_back("the multi-token-prediction modules are not counted");
}

Family minimax_m2() {
    Family family = common("minimax_m2", "MiniMaxM2Config", kFullNormLayer);
    family.defaults = {.kv_heads = 8, .head_dim = 128, .max_position = 196'608, .rope_theta = 5e6};
    family.traits = trait::head_norm;
    family.refine = refine_minimax;
    return family;
}
}  // namespace

std::vector<Family> mixture_families() {
    return {mixtral(), qwen2_moe(), qwen3_moe(), olmoe(), granitemoe(), granitemoeshared(), minimax_m2()};
}

}  // namespace wirewise
