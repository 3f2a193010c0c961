// Fused projections: InternLM 2 (q, k and v), Phi 3 and 4 (also gate and up).
#include "model/transformer/families/families.hpp"
#include "model/transformer/rope.hpp"
#include "model/transformer/windows.hpp"

namespace wirewise {

using namespace families;

namespace {
constexpr std::array kInternTable{table("model.tok_embeddings", Use::embedding, W::vocabulary, W::hidden)};
constexpr std::array kInternHead{
    norm("model.norm"),
    linear("output", Use::head, W::vocabulary, W::hidden, trait::never, trait::untied),
};
constexpr std::array kInternLayer{
    linear("attention.wqkv", Use::query_key_value, W::query_key_value, W::hidden, trait::query_bias),
    linear("attention.wo", Use::attention_output, W::hidden, W::output, trait::output_bias),
    linear("feed_forward.w1", Use::gate, W::intermediate, W::hidden),
    linear("feed_forward.w3", Use::up, W::intermediate, W::hidden),
    linear("feed_forward.w2", Use::down, W::hidden, W::intermediate),
    norm("attention_norm"),
    norm("ffn_norm"),
};

constexpr std::array kPhi3Layer{
    linear("self_attn.o_proj", Use::attention_output, W::hidden, W::output),
    linear("self_attn.qkv_proj", Use::query_key_value, W::query_key_value, W::hidden),
    linear("mlp.gate_up_proj", Use::gate_up, W::gate_up, W::hidden),
    linear("mlp.down_proj", Use::down, W::hidden, W::intermediate),
    norm("input_layernorm"),
    norm("post_attention_layernorm"),
};

Family internlm2() {
    Family family{.model_type = "internlm2", .config_class = "InternLM2Config"};
    family.switches = {{kAttentionBias, "bias", true}};
    family.before = kInternTable, family.layer = kInternLayer, family.after = kInternHead;
    return family;
}

Family phi3() {
    Family family{.model_type = "phi3", .config_class = "Phi3Config"};
    family.spelling.embedding_dropout = {"embd_pdrop"}, family.spelling.residual_dropout = {"resid_pdrop"};
    family.defaults = {.max_position = 4096, .epsilon = 1e-5};
    family.form.rotary = RotaryForm::always_joined;
    family.before = kTokenTable, family.layer = kPhi3Layer, family.after = kNormAndHead;
    family.refine = [](ConfigKeys& keys, Blueprint& blueprint) {
        rotate_part(keys, blueprint, {"partial_rotary_factor"}, 1.0);
        slide_every_layer(keys, blueprint, 0);
    };
    return family;
}
}  // namespace

std::vector<Family> fused_families() { return {internlm2(), phi3()}; }

}  // namespace wirewise
