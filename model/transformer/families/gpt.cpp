// The GPT line and its descendants under GPT-2's key names: GPT-2, BigCode, Neo, J, NeoX (Pythia), EXAONE 3.
#include <nlohmann/json.hpp>

#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kTables{table("transformer.wte", Use::embedding, W::vocabulary, W::hidden),
                             table("transformer.wpe", Use::position_embedding, W::positions, W::hidden)};
constexpr std::array kTokens{table("transformer.wte", Use::embedding, W::vocabulary, W::hidden)};
constexpr std::array kHead{norm("transformer.ln_f"), linear("lm_head", Use::head, W::vocabulary, W::hidden,
                                                            trait::head_bias, trait::untied)};

constexpr std::array kGpt2Layer{norm("ln_1"),
                                conv1d("attn.c_attn", Use::query_key_value, W::query_key_value, W::hidden),
                                conv1d("attn.c_proj", Use::attention_output, W::hidden, W::output),
                                norm("ln_2"),
                                conv1d("mlp.c_fc", Use::up, W::intermediate, W::hidden),
                                conv1d("mlp.c_proj", Use::down, W::hidden, W::intermediate)};
constexpr std::array kBigCodeLayer{
    norm("ln_1"),
    linear("attn.c_attn", Use::query_key_value, W::query_key_value, W::hidden, trait::query_bias),
    linear("attn.c_proj", Use::attention_output, W::hidden, W::output, trait::output_bias),
    norm("ln_2"),
    linear("mlp.c_fc", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.c_proj", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};
constexpr std::array kNeoLayer{
    norm("ln_1"),
    linear("attn.attention.k_proj", Use::key, W::key, W::hidden),
    linear("attn.attention.v_proj", Use::value, W::value, W::hidden),
    linear("attn.attention.q_proj", Use::query, W::query, W::hidden),
    linear("attn.attention.out_proj", Use::attention_output, W::hidden, W::output, trait::output_bias),
    norm("ln_2"),
    linear("mlp.c_fc", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.c_proj", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};
constexpr std::array kGptJLayer{norm("ln_1"),
                                linear("attn.k_proj", Use::key, W::key, W::hidden),
                                linear("attn.v_proj", Use::value, W::value, W::hidden),
                                linear("attn.q_proj", Use::query, W::query, W::hidden),
                                linear("attn.out_proj", Use::attention_output, W::hidden, W::output),
                                linear("mlp.fc_in", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
                                linear("mlp.fc_out", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};
constexpr std::array kExaoneLayer{
    norm("ln_1"),
    linear("attn.attention.k_proj", Use::key, W::key, W::hidden),
    linear("attn.attention.v_proj", Use::value, W::value, W::hidden),
    linear("attn.attention.q_proj", Use::query, W::query, W::hidden),
    linear("attn.attention.out_proj", Use::attention_output, W::hidden, W::output),
    norm("ln_2"),
    linear("mlp.c_fc_0", Use::gate, W::intermediate, W::hidden),
    linear("mlp.c_fc_1", Use::up, W::intermediate, W::hidden),
    linear("mlp.c_proj", Use::down, W::hidden, W::intermediate)};

constexpr std::array kNeoXTable{table("gpt_neox.embed_in", Use::embedding, W::vocabulary, W::hidden)};
constexpr std::array kNeoXHead{
    norm("gpt_neox.final_layer_norm"),
    linear("embed_out", Use::head, W::vocabulary, W::hidden, trait::never, trait::untied)};
constexpr std::array kNeoXLayer{
    norm("input_layernorm"),
    norm("post_attention_layernorm"),
    linear("attention.query_key_value", Use::query_key_value, W::query_key_value, W::hidden,
           trait::query_bias),
    linear("attention.dense", Use::attention_output, W::hidden, W::output, trait::output_bias),
    linear("mlp.dense_h_to_4h", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.dense_4h_to_h", Use::down, W::hidden, W::intermediate, trait::mlp_bias)};

FamilySpelling gpt_spelling() {
    return {.hidden = {"n_embd", "hidden_size"},
            .layers = {"n_layer", "num_hidden_layers"},
            .heads = {"n_head", "num_attention_heads"},
            .kv_heads = {},
            .intermediate = {"n_inner"},
            .max_position = {"n_positions", "max_position_embeddings"},
            .epsilon = {"layer_norm_epsilon"},
            .activation = {"activation_function"},
            .embedding_dropout = {"embd_pdrop"},
            .residual_dropout = {"resid_pdrop"}};
}

Family common(std::string_view model_type, std::string_view config_class, Rows layer) {
    Family family{.model_type = model_type, .config_class = config_class, .spelling = gpt_spelling()};
    family.defaults = {.intermediate_factor = 4,
                       .max_position = 1024,
                       .tied = true,
                       .epsilon = 1e-5,
                       .activation = "gelu_new"};
    family.form.fused_split = FusedSplit::split;
    family.head_dimension = HeadDimension::quotient;
    family.norm = NormKind::layer;
    family.position = PositionKind::learned;
    family.gated = false;
    family.traits = kAllBiases;
    family.before = kTables, family.layer = layer, family.after = kHead;
    family.layers_module = "transformer.h";
    return family;
}

Family gpt2() {
    Family family = common("gpt2", "GPT2Config", kGpt2Layer);
    family.defaults.dropout = 0.1;
    family.refine = [](ConfigKeys& keys, Blueprint&) {
        if (keys.has("add_cross_attention") && keys.flag_or("add_cross_attention", false, ""))
            keys.refuse("add_cross_attention", "is true: cross-attention is not modelled",
                        "use a decoder-only model");
    };
    return family;
}

Family gpt_bigcode() {
    Family family = common("gpt_bigcode", "GPTBigCodeConfig", kBigCodeLayer);
    family.defaults.activation = "gelu_pytorch_tanh";
    family.defaults.dropout = 0.1;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        if (keys.flag_or("multi_query", true, class_default(blueprint))) blueprint.attention.kv_heads = 1;
    };
    return family;
}

// attention_types: [[[kinds], times], ...], each group of kinds repeated; "local" layers slide over
// window_size.
void refine_gpt_neo(ConfigKeys& keys, Blueprint& blueprint) {
    using nlohmann::json;
    const auto window = keys.integer_or({"window_size"}, 256, class_default(blueprint));
    const json* given = keys.value({"attention_types"});
    const json usual = json::parse(R"([[["global", "local"], 1]])");
    if (!given) keys.note_default("attention_types", "global, local in turn", class_default(blueprint));
    const json& types = given ? *given : usual;
    const bool one_group = types.is_array() && types.size() == 1 && types[0].is_array() &&
                           types[0].size() == 2 && types[0][0].is_array() && !types[0][0].empty();
    if (!one_group)
        keys.refuse("attention_types", "is not one group of kinds",
                    "write [[[\"global\", \"local\"], times]]");
    const json& kinds = types[0][0];
    for (std::size_t index = 0; index < blueprint.layers.size(); ++index)
        if (kinds[index % kinds.size()] == "local") blueprint.layers[index].window = window;
}

Family gpt_neo() {
    Family family = common("gpt_neo", "GPTNeoConfig", kNeoLayer);
    family.spelling = {.hidden = {"hidden_size"},
                       .layers = {"num_layers", "num_hidden_layers"},
                       .heads = {"num_heads", "num_attention_heads"},
                       .kv_heads = {},
                       .epsilon = {"layer_norm_epsilon"},
                       .activation = {"activation_function"},
                       .embedding_dropout = {"embed_dropout"},
                       .residual_dropout = {"resid_dropout"}};
    family.defaults.max_position = 2048;
    family.form.attention = AttentionForm::eager_fp32;
    family.refine = refine_gpt_neo;
    return family;
}

Family gptj() {
    Family family = common("gptj", "GPTJConfig", kGptJLayer);
    family.defaults.max_position = 2048, family.defaults.tied = false;
    family.form.attention = AttentionForm::eager_fp32;
    family.position = PositionKind::rotary;
    family.parallel_block = true;
    family.traits = trait::mlp_bias | trait::norm_bias | trait::head_bias;
    family.before = kTokens;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) { rotate_dimensions(keys, blueprint, 64); };
    return family;
}

Family gpt_neox() {
    Family family = common("gpt_neox", "GPTNeoXConfig", kNeoXLayer);
    family.spelling = {.kv_heads = {},
                       .epsilon = {"layer_norm_eps"},
                       .embedding_dropout = {"hidden_dropout"},
                       .residual_dropout = {"hidden_dropout"}};
    family.defaults = {.tied = false, .epsilon = 1e-5, .activation = "gelu"};
    family.form.fused_split = FusedSplit::split_heads;
    family.position = PositionKind::rotary;
    family.traits = trait::mlp_bias | trait::norm_bias;
    family.switches = {{kAttentionBias, "attention_bias", true}};
    family.before = kNeoXTable, family.after = kNeoXHead;
    family.layers_module = "gpt_neox.layers";
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"rotary_pct", "partial_rotary_factor"}, 0.25);
        blueprint.parallel_block = keys.flag_or("use_parallel_residual", true, class_default(blueprint));
    };
    return family;
}

// EXAONE 3 and 3.5 (remote code): Llama's mathematics under GPT-Neo's names.
Family exaone() {
    Family family = common("exaone", "ExaoneConfig", kExaoneLayer);
    family.spelling = {.layers = {"num_layers", "num_hidden_layers"},
                       .epsilon = {"layer_norm_epsilon"},
                       .activation = {"activation_function"}};
    family.defaults = {.tied = true, .epsilon = 1e-5, .activation = "silu"};
    family.head_dimension = HeadDimension::key;
    family.norm = NormKind::rms;
    family.position = PositionKind::rotary;
    family.gated = true;
    family.traits = trait::always;
    family.before = kTokens;
    return family;
}
}  // namespace

std::vector<Family> gpt_families() {
    return {gpt2(), gpt_bigcode(), gpt_neo(), gptj(), gpt_neox(), exaone()};
}

}  // namespace wirewise
