// The first open models of their size: OPT (learned positions), BLOOM and MPT (ALiBi).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/transformer/families/families.hpp"

namespace wirewise {

using namespace families;

namespace {
// The last norm and the projections of OPT are registered before the layers.
constexpr std::array kOptRoot{
    table("model.decoder.embed_tokens", Use::embedding, W::vocabulary, W::embedding),
    table("model.decoder.embed_positions", Use::position_embedding, W::positions, W::hidden),
    linear("model.decoder.project_out", Use::head_projection, W::embedding, W::hidden, trait::never,
           trait::projected_embedding),
    linear("model.decoder.project_in", Use::embedding_projection, W::hidden, W::embedding, trait::never,
           trait::projected_embedding),
    norm("model.decoder.final_layer_norm", trait::last_norm)};
constexpr std::array kOptHead{
    linear("lm_head", Use::head, W::vocabulary, W::embedding, trait::never, trait::untied)};
constexpr std::array kOptLayer{
    linear("self_attn.k_proj", Use::key, W::key, W::hidden, trait::query_bias),
    linear("self_attn.v_proj", Use::value, W::value, W::hidden, trait::query_bias),
    linear("self_attn.q_proj", Use::query, W::query, W::hidden, trait::query_bias),
    linear("self_attn.out_proj", Use::attention_output, W::hidden, W::output, trait::output_bias),
    norm("self_attn_layer_norm"),
    linear("fc1", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("fc2", Use::down, W::hidden, W::intermediate, trait::mlp_bias),
    norm("final_layer_norm")};

constexpr std::array kBloomTable{
    table("transformer.word_embeddings", Use::embedding, W::vocabulary, W::hidden),
    norm("transformer.word_embeddings_layernorm", trait::always, W::hidden, Use::embedding_norm)};
constexpr std::array kBloomHead{norm("transformer.ln_f"), linear("lm_head", Use::head, W::vocabulary,
                                                                 W::hidden, trait::never, trait::untied)};
constexpr std::array kBloomLayer{
    norm("input_layernorm"),
    linear("self_attention.query_key_value", Use::query_key_value, W::query_key_value, W::hidden,
           trait::query_bias),
    linear("self_attention.dense", Use::attention_output, W::hidden, W::output, trait::output_bias),
    norm("post_attention_layernorm"),
    linear("mlp.dense_h_to_4h", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.dense_4h_to_h", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};

constexpr std::array kMptTable{table("transformer.wte", Use::embedding, W::vocabulary, W::hidden)};
constexpr std::array kMptHead{norm("transformer.norm_f"), linear("lm_head", Use::head, W::vocabulary,
                                                                 W::hidden, trait::never, trait::untied)};
constexpr std::array kMptLayer{norm("norm_1"),
                               linear("attn.Wqkv", Use::query_key_value, W::query_key_value, W::hidden),
                               linear("attn.out_proj", Use::attention_output, W::hidden, W::output),
                               norm("norm_2"),
                               linear("ffn.up_proj", Use::up, W::intermediate, W::hidden),
                               linear("ffn.down_proj", Use::down, W::hidden, W::intermediate)};

void refine_opt(ConfigKeys& keys, Blueprint& blueprint) {
    const auto hidden = blueprint.widths[W::hidden];
    const auto embedding = keys.integer_or({"word_embed_proj_dim"}, hidden, "hidden_size");
    blueprint.widths[W::embedding] = embedding;
    if (embedding != hidden) blueprint.traits |= trait::projected_embedding;
    const bool before = keys.flag_or("do_layer_norm_before", true, class_default(blueprint));
    const bool removed =
        keys.has("_remove_final_layer_norm") && keys.flag_or("_remove_final_layer_norm", false, "");
    if (before && !removed) blueprint.traits |= trait::last_norm;
    blueprint.pre_norms = before, blueprint.post_norms = !before;
    if (!keys.flag_or("layer_norm_elementwise_affine", true, class_default(blueprint))) {
        blueprint.traits &= ~(trait::norm_weight | trait::norm_bias);
        blueprint.model.norm = NormKind::layer_without_parameters;
    }
}

Family opt() {
    Family family{.model_type = "opt", .config_class = "OPTConfig"};
    family.spelling = {.kv_heads = {},
                       .intermediate = {"ffn_dim"},
                       .epsilon = {},
                       .activation = {"activation_function"},
                       .residual_dropout = {"dropout"}};
    family.defaults = {.tied = true, .epsilon = 1e-5, .dropout = 0.1, .activation = "relu"};
    family.form.scaled_query = true;
    family.head_dimension = HeadDimension::quotient;
    family.norm = NormKind::layer;
    family.position = PositionKind::learned;
    family.gated = false;
    family.extra_positions = 2;  // room for the padding index
    family.traits = trait::norm_bias;
    family.switches = {{kAttentionBias | trait::mlp_bias, "enable_bias", true}};
    family.before = kOptRoot, family.layer = kOptLayer, family.after = kOptHead;
    family.layers_module = "model.decoder.layers";
    family.refine = refine_opt;
    return family;
}

Family bloom() {
    Family family{.model_type = "bloom", .config_class = "BloomConfig"};
    family.spelling = {.hidden = {"hidden_size", "n_embed"},
                       .layers = {"n_layer", "num_hidden_layers"},
                       .heads = {"n_head", "num_attention_heads"},
                       .kv_heads = {},
                       .intermediate = {},
                       .max_position = {},
                       .epsilon = {"layer_norm_epsilon"},
                       .activation = {},
                       .residual_dropout = {"hidden_dropout"}};
    family.defaults = {.intermediate_factor = 4, .tied = true, .epsilon = 1e-5, .activation = "gelu_tanh"};
    family.form = {.fused_split = FusedSplit::slices, .attention = AttentionForm::eager};
    family.head_dimension = HeadDimension::quotient;
    family.norm = NormKind::layer;
    family.position = PositionKind::alibi;
    family.gated = false;
    family.traits = kAllBiases;
    family.before = kBloomTable, family.layer = kBloomLayer, family.after = kBloomHead;
    family.layers_module = "transformer.h";
    return family;
}

// What the remote code could do and transformers' class does not would be sized wrongly: refused.
void refine_mpt(ConfigKeys& keys, Blueprint& blueprint) {
    if (keys.integer_or({"expansion_ratio"}, 4, class_default(blueprint)) != 4)
        keys.refuse("expansion_ratio", "is not 4: transformers' MPT has a fixed MLP width", "write 4");
    if (!keys.flag_or("no_bias", true, class_default(blueprint)))
        keys.refuse("no_bias", "is false: transformers' MPT has no biases", "write true");
    auto attention = keys.inside("attn_config");
    if (!attention) return;
    if (attention->text_or({"attn_type"}, "multihead_attention", "MptAttentionConfig default") !=
        "multihead_attention")
        attention->refuse("attn_type", "is not multihead_attention", "only that is modelled");
    if (!attention->flag_or("alibi", true, "MptAttentionConfig default"))
        attention->refuse("alibi", "is false: learned positions are not modelled for MPT", "write true");
    if (attention->flag_or("qk_ln", false, "MptAttentionConfig default"))
        attention->refuse("qk_ln", "is true: not modelled for MPT", "write false");
    keys.absorb("attn_config", *attention);
}

Family mpt() {
    Family family{.model_type = "mpt", .config_class = "MptConfig"};
    family.spelling = {.hidden = {"d_model", "hidden_size"},
                       .layers = {"n_layers", "num_hidden_layers"},
                       .heads = {"n_heads", "num_attention_heads"},
                       .kv_heads = {},
                       .intermediate = {},
                       .max_position = {"max_seq_len"},
                       .epsilon = {"layer_norm_epsilon"},
                       .activation = {},
                       .embedding_dropout = {"emb_pdrop"},
                       .residual_dropout = {"resid_pdrop"}};
    family.defaults = {.intermediate_factor = 4, .tied = true, .epsilon = 1e-5, .activation = "gelu"};
    family.form.fused_split = FusedSplit::split;  // attention as the remote code runs it: fused
    family.head_dimension = HeadDimension::quotient;
    family.norm = NormKind::layer;
    family.position = PositionKind::alibi;
    family.gated = false;
    family.before = kMptTable, family.layer = kMptLayer, family.after = kMptHead;
    family.layers_module = "transformer.blocks";
    family.refine = refine_mpt;
    return family;
}

}  // namespace

std::vector<Family> open_families() { return {opt(), bloom(), mpt()}; }

}  // namespace wirewise
