// Llama's projections with other norms: OLMo (none with parameters), OLMo 2 and 3, EXAONE 4 (after each
// half), GLM (fused MLP; GLM-4-0414 norms on both sides), Command-R (one norm, both halves in parallel).
#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr auto kOlmoLayer = joined(kAttention, kGatedMlp);

constexpr std::array kPostNorms{norm("post_attention_layernorm"), norm("post_feedforward_layernorm")};
constexpr auto kOlmo2Layer = joined(kAttention, kNormFullWidth, kGatedMlp, kPostNorms);
constexpr auto kExaoneLayer = joined(kAttention, kNormPerHead, kGatedMlp, kPostNorms);

constexpr std::array kFusedMlp{linear("mlp.gate_up_proj", Use::gate_up, W::gate_up, W::hidden),
                               linear("mlp.down_proj", Use::down, W::hidden, W::intermediate)};
constexpr std::array kOuterNorms{norm("post_self_attn_layernorm", trait::second_norm),
                                 norm("post_mlp_layernorm", trait::second_norm)};
constexpr auto kGlmLayer = joined(kAttention, kFusedMlp, kTwoNorms, kOuterNorms);

constexpr std::array kCohereHeadNorms{
    table("self_attn.q_norm", Use::head_norm, W::heads, W::head_dim, trait::head_norm),
    table("self_attn.k_norm", Use::head_norm, W::kv_heads, W::head_dim, trait::head_norm)};
constexpr auto kCohereLayer =
    joined(kAttention, kCohereHeadNorms, kGatedMlp, std::array{norm("input_layernorm")});

Family common(std::string_view model_type, std::string_view config_class, Rows layer) {
    Family family{.model_type = model_type, .config_class = config_class};
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.before = kTokenTable, family.layer = layer, family.after = kNormAndHead;
    return family;
}

Family olmo() {
    Family family = common("olmo", "OlmoConfig", kOlmoLayer);
    family.spelling.epsilon = {};
    family.defaults.epsilon = 1e-5;
    family.norm = NormKind::layer_without_parameters;
    family.form = {.norm = NormForm::fused_fp32, .rotary = RotaryForm::fp32_tables};
    return family;
}

Family olmo2() {
    Family family = common("olmo2", "Olmo2Config", kOlmo2Layer);
    family.form = {.norm = NormForm::scaled_in_fp32, .rotary = RotaryForm::fp32_tables};
    family.defaults.epsilon = 1e-5;
    family.traits = trait::head_norm;
    family.pre_norms = false, family.post_norms = true;
    return family;
}

Family olmo3() {
    Family family = olmo2();
    family.model_type = "olmo3", family.config_class = "Olmo3Config";
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        slide_some_layers(keys, blueprint, 4096, [](std::int64_t index) { return (index + 1) % 4 != 0; });
    };
    return family;
}

// Layers that see everything do not rotate, unless no layer slides.
void refine_exaone4(ConfigKeys& keys, Blueprint& blueprint) {
    slide_by_pattern(keys, blueprint, 4096, {"sliding_window_pattern"}, 4);
    if (keys.is_null({"sliding_window"})) return;
    for (auto& layer : blueprint.layers) layer.rotary = layer.window > 0;
}

Family exaone4() {
    Family family = common("exaone4", "Exaone4Config", kExaoneLayer);
    family.defaults = {.kv_heads = 32, .epsilon = 1e-5};
    family.switches = {};
    family.traits = trait::head_norm;
    family.pre_norms = false, family.post_norms = true;
    family.refine = refine_exaone4;
    return family;
}

Family glm() {
    Family family = common("glm", "GlmConfig", kGlmLayer);
    family.defaults = {.kv_heads = 2, .head_dim = 128, .max_position = 131'072, .epsilon = 1.5625e-7};
    family.form.rotary = RotaryForm::always_joined;
    family.switches = {{trait::query_bias, "attention_bias", true}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"partial_rotary_factor"}, 0.5);
    };
    return family;
}

Family glm4() {
    Family family = glm();
    family.model_type = "glm4", family.config_class = "Glm4Config";
    family.traits = trait::second_norm;
    family.post_norms = true;
    return family;
}

// Its layer norm has a weight and no bias.
Family cohere() {
    Family family = common("cohere", "CohereConfig", kCohereLayer);
    family.spelling.epsilon = {"layer_norm_eps"};
    family.defaults = {.max_position = 8192, .tied = true, .epsilon = 1e-5};
    family.norm = NormKind::layer;
    family.form = {.norm = NormForm::chained_fp32, .rotary = RotaryForm::fp32, .scaled_logits = true};
    family.parallel_block = true;
    family.switches.push_back({trait::head_norm, "use_qk_norm", false});
    return family;
}

Family cohere2() {
    Family family = cohere();
    family.model_type = "cohere2", family.config_class = "Cohere2Config";
    family.switches.pop_back();
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        slide_by_pattern(keys, blueprint, 4096, {"sliding_window_pattern", "_sliding_window_pattern"}, 4);
        for (auto& layer : blueprint.layers)
            layer.rotary = layer.window > 0;  // full layers have no positions
    };
    return family;
}
}  // namespace

std::vector<Family> norm_families() {
    return {olmo(), olmo2(), olmo3(), exaone4(), glm(), glm4(), cohere(), cohere2()};
}

}  // namespace wirewise
