// Layer norms with biases around separate projections: Phi 1 and 2, StableLM, StarCoder 2, Nemotron.
#include <fmt/format.h>

#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kPhiHead{
    norm("model.final_layernorm"),
    linear("lm_head", Use::head, W::vocabulary, W::hidden, trait::head_bias, trait::untied)};
constexpr std::array kPhiRest{
    linear("self_attn.dense", Use::attention_output, W::hidden, W::output, trait::output_bias),
    head_norm("self_attn.q_layernorm", W::head_dim, trait::norm_bias),
    head_norm("self_attn.k_layernorm", W::head_dim, trait::norm_bias),
    linear("mlp.fc1", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.fc2", Use::down, W::hidden, W::intermediate, trait::mlp_bias),
    norm("input_layernorm")};
constexpr auto kPhiLayer = joined(kQueryKeyValue, kPhiRest);

constexpr Row norms_per_head(std::string_view name, Width heads) {
    Row row = head_norm(name, W::head_dim);
    row.repeat = heads;
    return row;
}
constexpr std::array kStableHeadNorms{norms_per_head("self_attn.q_layernorm.norms.#", W::heads),
                                      norms_per_head("self_attn.k_layernorm.norms.#", W::kv_heads)};
constexpr std::array kStableNorms{norm("input_layernorm"),
                                  norm("post_attention_layernorm", trait::second_norm)};
constexpr auto kStableLayer = joined(kAttention, kStableHeadNorms, kGatedMlp, kStableNorms);

// Two-matrix MLPs, named differently.
constexpr std::array kStarMlp{linear("mlp.c_fc", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
                              linear("mlp.c_proj", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};
constexpr std::array kNemotronMlp{
    linear("mlp.up_proj", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.down_proj", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};
constexpr auto kStarLayer = joined(kAttention, kStarMlp, kTwoNorms);
constexpr auto kNemotronLayer = joined(kAttention, kNemotronMlp, kTwoNorms);

Family common(std::string_view model_type, std::string_view config_class, Rows layer) {
    Family family{.model_type = model_type, .config_class = config_class};
    family.spelling.epsilon = {"layer_norm_eps"};
    family.defaults.epsilon = 1e-5;
    family.norm = NormKind::layer;
    family.traits = trait::norm_bias;
    family.before = kTokenTable, family.layer = layer, family.after = kNormAndHead;
    return family;
}

Family phi() {
    Family family = common("phi", "PhiConfig", kPhiLayer);
    family.defaults.activation = "gelu_new";
    family.head_dimension = HeadDimension::quotient;
    family.gated = false, family.parallel_block = true;
    family.traits = kAllBiases | trait::head_bias;
    family.spelling.embedding_dropout = {"embd_pdrop"}, family.spelling.residual_dropout = {"resid_pdrop"};
    family.switches = {{trait::head_norm, "qk_layernorm", false}};
    family.after = kPhiHead;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"partial_rotary_factor"}, 0.5);
    };
    return family;
}

// Phi as it was before transformers had it: the same weights under GPT-2's key names.
Family phi_msft() {
    Family family = phi();
    family.model_type = "phi-msft", family.config_class = "PhiConfig of the remote code";
    family.spelling = {.hidden = {"n_embd"},
                       .layers = {"n_layer"},
                       .heads = {"n_head"},
                       .kv_heads = {"n_head_kv"},
                       .intermediate = {"n_inner"},
                       .max_position = {"n_positions"},
                       .epsilon = {"layer_norm_epsilon"},
                       .activation = {"activation_function"},
                       .embedding_dropout = {"embd_pdrop"},
                       .residual_dropout = {"resid_pdrop"}};
    family.defaults.intermediate_factor = 4;
    family.switches = {};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_dimensions(keys, blueprint, 32);
        blueprint.model.notes.push_back(
            "phi-msft is read as phi: the same weights, tensors named as transformers does");
    };
    return family;
}

Family stablelm() {
    Family family = common("stablelm", "StableLmConfig", kStableLayer);
    family.defaults.kv_heads = 32, family.defaults.max_position = 4096;
    family.head_dimension = HeadDimension::quotient;
    family.switches = {{trait::query_bias, "use_qkv_bias", false}, {trait::head_norm, "qk_layernorm", false}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"partial_rotary_factor", "rope_pct"}, 0.25);
        blueprint.parallel_block = keys.flag_or("use_parallel_residual", false, "StableLmConfig default");
        if (!blueprint.parallel_block) blueprint.traits |= trait::second_norm;
    };
    return family;
}

Family starcoder2() {
    Family family = common("starcoder2", "Starcoder2Config", kStarLayer);
    family.spelling.epsilon = {"norm_epsilon"};
    family.spelling.embedding_dropout = {"embedding_dropout"};
    family.spelling.residual_dropout = {"residual_dropout"};
    family.defaults = {.kv_heads = 2,
                       .max_position = 4096,
                       .tied = true,
                       .epsilon = 1e-5,
                       .activation = "gelu_pytorch_tanh"};
    family.gated = false;
    family.switches = {{kAttentionBias | trait::mlp_bias, "use_bias", true}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) { slide_every_layer(keys, blueprint, 0); };
    return family;
}

Family nemotron() {
    Family family = common("nemotron", "NemotronConfig", kNemotronLayer);
    family.spelling.epsilon = {"norm_eps"};
    family.defaults = {.max_position = 4096, .epsilon = 1e-5, .activation = "relu2"};
    family.gated = false;
    family.switches = {{kAttentionBias, "attention_bias", false}, {trait::mlp_bias, "mlp_bias", false}};
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"partial_rotary_factor", "rope_percent", "rope_percentage"}, 0.5);
    };
    return family;
}
}  // namespace

std::vector<Family> biased_families() { return {phi(), phi_msft(), stablelm(), starcoder2(), nemotron()}; }

}  // namespace wirewise
