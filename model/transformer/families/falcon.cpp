// Falcon in its three forms: sequential with biases and ALiBi (RW), parallel with one key and value head
// (7B), parallel with grouped heads (40B, 180B, 11B).
#include <fmt/format.h>

#include "model/transformer/families/families.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kFalconHead{norm("transformer.ln_f"), linear("lm_head", Use::head, W::vocabulary,
                                                                  W::hidden, trait::never, trait::untied)};
constexpr std::array kFalconTable{
    table("transformer.word_embeddings", Use::embedding, W::vocabulary, W::hidden)};
constexpr std::array kFalconLayer{
    linear("self_attention.query_key_value", Use::query_key_value, W::query_key_value, W::hidden,
           trait::query_bias),
    linear("self_attention.dense", Use::attention_output, W::hidden, W::output, trait::output_bias),
    linear("mlp.dense_h_to_4h", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.dense_4h_to_h", Use::down, W::hidden, W::intermediate, trait::mlp_bias),
    norm("post_attention_layernorm", trait::second_norm),
    norm("input_layernorm", trait::one_norm),
    norm("ln_attn", trait::two_norms),
    norm("ln_mlp", trait::two_norms)};

// num_kv_heads counts only in the new architecture; before it, multi_query means one key and value head.
void read_falcon_heads(ConfigKeys& keys, Blueprint& blueprint, bool new_architecture) {
    auto& attention = blueprint.attention;
    const bool multi_query = keys.flag_or("multi_query", true, class_default(blueprint));
    if (!new_architecture) {
        attention.kv_heads = multi_query ? 1 : attention.heads;
        // One key head against many query heads, without enable_gqa.
        if (multi_query) blueprint.model.form.attention = AttentionForm::math;
        return;
    }
    attention.kv_heads =
        keys.integer_or({"num_kv_heads", "n_head_kv"}, attention.heads, "num_attention_heads");
    if (attention.heads % attention.kv_heads != 0)
        keys.refuse("num_kv_heads",
                    fmt::format("is {}, which does not divide the {} attention heads", attention.kv_heads,
                                attention.heads),
                    "write a divisor of the heads");
}

void refine_falcon(ConfigKeys& keys, Blueprint& blueprint) {
    const bool new_architecture = keys.flag_or("new_decoder_architecture", false, class_default(blueprint));
    read_falcon_heads(keys, blueprint, new_architecture);
    const bool parallel = keys.flag_or("parallel_attn", true, class_default(blueprint));
    const auto norms =
        keys.optional_integer({"num_ln_in_parallel_attn"}, {1, 2}).value_or(new_architecture ? 2 : 1);
    blueprint.parallel_block = parallel || new_architecture;
    if (!parallel)
        blueprint.traits |= trait::second_norm | trait::one_norm;
    else
        blueprint.traits |= norms == 2 ? trait::two_norms : trait::one_norm;
    if (keys.flag_or("alibi", false, class_default(blueprint))) {
        blueprint.model.position = PositionKind::alibi;
        blueprint.attention.rotary_dim = 0;
    }
}

Family falcon() {
    Family family{.model_type = "falcon", .config_class = "FalconConfig"};
    family.spelling = {.hidden = {"hidden_size", "n_embed"},
                       .layers = {"num_hidden_layers", "n_layer"},
                       .heads = {"num_attention_heads", "n_head"},
                       .kv_heads = {},
                       .intermediate = {"ffn_hidden_size"},
                       .epsilon = {"layer_norm_epsilon"},
                       .activation = {"activation"},
                       .residual_dropout = {"hidden_dropout"}};
    family.form.always_masked = true;
    family.defaults = {.intermediate_factor = 4, .tied = true, .epsilon = 1e-5, .activation = "gelu"};
    family.head_dimension = HeadDimension::quotient;
    family.norm = NormKind::layer;
    family.gated = false;
    family.traits = trait::norm_bias;
    family.switches = {{kAttentionBias | trait::mlp_bias, "bias", false}};
    family.before = kFalconTable, family.layer = kFalconLayer, family.after = kFalconHead;
    family.layers_module = "transformer.h";
    family.refine = refine_falcon;
    return family;
}
}  // namespace

std::vector<Family> falcon_families() { return {falcon()}; }

}  // namespace wirewise
