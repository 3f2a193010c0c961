// The common form: separate q, k, v, o; a gated MLP; RMS norms before both halves.

#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr auto kLayer = joined(kAttention, kNormPerHead, kGatedMlp, kTwoNorms);

const Switch kAttentionSwitch{kAttentionBias, "attention_bias", false};
const Switch kMlpSwitch{trait::mlp_bias, "mlp_bias", false};

void windows_of_mistral(ConfigKeys& keys, Blueprint& blueprint) { slide_every_layer(keys, blueprint, 4096); }

void windows_of_smollm3(ConfigKeys& keys, Blueprint& blueprint) {
    skip_rotation(keys, blueprint);
    const bool on = keys.flag_or("use_sliding_window", false, "SmolLM3Config default");
    slide_some_layers(keys, blueprint, 0, [&](std::int64_t index) {
        return on && !blueprint.layers[static_cast<std::size_t>(index)].rotary;
    });
}

Family common(std::string_view model_type, std::string_view config_class) {
    return {.model_type = model_type,
            .config_class = config_class,
            .before = kTokenTable,
            .layer = kLayer,
            .after = kNormAndHead};
}

Family llama() {
    Family family = common("llama", "LlamaConfig");
    family.switches = {kAttentionSwitch, kMlpSwitch};
    return family;
}

Family mistral() {
    Family family = common("mistral", "MistralConfig");
    family.defaults = {.kv_heads = 8, .max_position = 131'072};
    family.refine = windows_of_mistral;
    return family;
}

// Qwen 1.5, 2 and 2.5: q, k and v have biases though no key says so.
Family qwen2() {
    Family family = common("qwen2", "Qwen2Config");
    family.traits = trait::query_bias;
    family.defaults = {.kv_heads = 32, .max_position = 32'768};
    family.refine = slide_upper_layers;
    return family;
}

Family qwen3() {
    Family family = common("qwen3", "Qwen3Config");
    family.traits = trait::head_norm;
    family.defaults = {.kv_heads = 32, .head_dim = 128, .max_position = 32'768};
    family.switches = {kAttentionSwitch};
    family.refine = slide_upper_layers;
    return family;
}

Family granite() {
    Family family = common("granite", "GraniteConfig");
    family.form = {.scaled_embedding = true, .scaled_residual = true, .scaled_logits = true};
    family.switches = {kAttentionSwitch, kMlpSwitch};
    return family;
}

Family smollm3() {
    Family family = common("smollm3", "SmolLM3Config");
    family.defaults = {.kv_heads = 4, .max_position = 32'768, .tied = true, .rope_theta = 2e6};
    family.switches = {kAttentionSwitch, kMlpSwitch};
    family.refine = windows_of_smollm3;
    return family;
}

Family minicpm() {
    Family family = common("minicpm", "MiniCPMConfig");
    family.form = {.scaled_embedding = true, .scaled_residual = true, .scaled_logits = true};
    family.defaults = {.tied = true};
    family.switches = {kAttentionSwitch};
    return family;
}

// The first InternLM: one key for the biases of all four projections.
Family internlm() {
    Family family = common("internlm", "InternLMConfig");
    family.switches = {{kAttentionBias, "bias", true}};
    return family;
}
}  // namespace

std::vector<Family> llama_families() {
    return {llama(), mistral(), qwen2(), qwen3(), granite(), smollm3(), minicpm(), internlm()};
}

}  // namespace wirewise
