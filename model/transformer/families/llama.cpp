// The Llama line: separate q, k, v, o; a gated MLP; RMS norms before both halves. Llama, Mistral, Qwen 2
// and 3.
#include "model/transformer/families/families.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr Row kLayer[] = {
    linear("self_attn.q_proj", Use::query, W::query, W::hidden, trait::query_bias),
    linear("self_attn.k_proj", Use::key, W::key, W::hidden, trait::query_bias),
    linear("self_attn.v_proj", Use::value, W::value, W::hidden, trait::query_bias),
    linear("self_attn.o_proj", Use::attention_output, W::hidden, W::output, trait::output_bias),
    head_norm("self_attn.q_norm", W::head_dim),
    head_norm("self_attn.k_norm", W::head_dim),
    linear("mlp.gate_proj", Use::gate, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.up_proj", Use::up, W::intermediate, W::hidden, trait::mlp_bias),
    linear("mlp.down_proj", Use::down, W::hidden, W::intermediate, trait::mlp_bias),
    norm("input_layernorm"),
    norm("post_attention_layernorm"),
};

void windows_of_mistral(ConfigKeys& keys, Blueprint& blueprint) { slide_every_layer(keys, blueprint, 4096); }
}  // namespace

std::vector<Family> llama_families() {
    const Family base{.before = kTokenTable, .layer = kLayer, .after = kNormAndHead};
    Family llama = base, mistral = base, qwen2 = base, qwen3 = base;

    llama.model_type = "llama", llama.config_class = "LlamaConfig";
    llama.switches = {{trait::query_bias | trait::output_bias, "attention_bias", false},
                      {trait::mlp_bias, "mlp_bias", false}};

    mistral.model_type = "mistral", mistral.config_class = "MistralConfig";
    mistral.defaults = {.kv_heads = 8, .max_position = 131'072};
    mistral.refine = windows_of_mistral;

    qwen2.model_type = "qwen2", qwen2.config_class = "Qwen2Config";
    qwen2.traits = trait::query_bias;  // though no key says so
    qwen2.defaults = {.kv_heads = 32, .max_position = 32'768};
    qwen2.refine = slide_upper_layers;

    qwen3.model_type = "qwen3", qwen3.config_class = "Qwen3Config";
    qwen3.traits = trait::head_norm;
    qwen3.defaults = {.kv_heads = 32, .head_dim = 128, .max_position = 32'768};
    qwen3.switches = {{trait::query_bias | trait::output_bias, "attention_bias", false}};
    qwen3.refine = slide_upper_layers;

    return {llama, mistral, qwen2, qwen3};
}

}  // namespace wirewise
