// Gemma: wide heads, tied tables; from the second on, norms on both sides of each half and windows on most
// layers.
#include "model/transformer/families/families.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kOuterNorms{norm("pre_feedforward_layernorm", trait::second_norm),
                                 norm("post_feedforward_layernorm", trait::second_norm)};
constexpr auto kLayer = joined(kAttention, kNormPerHead, kGatedMlp, kTwoNorms, kOuterNorms);

Family common(std::string_view model_type, std::string_view config_class) {
    Family family{.model_type = model_type, .config_class = config_class};
    family.spelling.activation = {"hidden_activation"};
    family.defaults = {
        .head_dim = 256, .max_position = 8192, .tied = true, .activation = "gelu_pytorch_tanh"};
    family.form = {.norm = NormForm::shifted_scale, .scaled_embedding = true};
    family.switches = {{kAttentionBias, "attention_bias", false}};
    family.before = kTokenTable, family.layer = kLayer, family.after = kNormAndHead;
    return family;
}

Family gemma() {
    Family family = common("gemma", "GemmaConfig");
    family.defaults.kv_heads = 16;
    return family;
}

Family gemma2() {
    Family family = common("gemma2", "Gemma2Config");
    family.defaults.kv_heads = 4;
    family.traits = trait::second_norm;
    family.post_norms = true;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        slide_some_layers(keys, blueprint, 4096, [](std::int64_t index) { return index % 2 == 0; });
        blueprint.model.form.capped_logits = !keys.is_null({"final_logit_softcapping"});
    };
    return family;
}

// The files of the multimodal sizes leave heads and vocabulary to the class, so its defaults are the safe
// ones.
Family gemma3() {
    Family family = common("gemma3_text", "Gemma3TextConfig");
    family.defaults.heads = 8, family.defaults.kv_heads = 4, family.defaults.vocabulary = 262'208;
    family.defaults.max_position = 131'072, family.defaults.rope_theta = 1e6;
    family.traits = trait::second_norm | trait::head_norm;
    family.post_norms = true;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        slide_by_pattern(keys, blueprint, 4096, {"sliding_window_pattern", "_sliding_window_pattern"}, 6);
    };
    return family;
}
}  // namespace

std::vector<Family> gemma_families() { return {gemma(), gemma2(), gemma3()}; }

}  // namespace wirewise
