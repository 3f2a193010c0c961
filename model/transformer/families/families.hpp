// The groups of families, one source each, and the rows that most of them share.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "model/transformer/blueprint.hpp"
#include "model/transformer/family.hpp"

namespace wirewise {

std::vector<Family> llama_families();   // Llama, Mistral, Qwen, Granite, ...: the common form
std::vector<Family> gemma_families();   // Gemma 1 to 3
std::vector<Family> norm_families();    // OLMo, EXAONE 4, GLM, Command-R: other places and kinds of norms
std::vector<Family> fused_families();   // InternLM 2, Phi 3: fused projections
std::vector<Family> biased_families();  // Phi, StableLM, StarCoder 2, Nemotron: layer norms with biases
std::vector<Family> gpt_families();     // GPT-2, BigCode, Neo, J, NeoX, EXAONE 3
std::vector<Family> open_families();    // OPT, BLOOM, MPT
std::vector<Family> falcon_families();
std::vector<Family> mixture_families();             // Mixtral, Qwen-MoE, OLMoE, Granite-MoE, MiniMax-M2
std::vector<Family> transposed_mixture_families();  // gpt-oss, Llama 4
std::vector<Family> deepseek_families();            // DeepSeek V2 and V3 (MLA), GLM-4.5

namespace families {
using Use = ParameterUse;
using W = Width;

// One table from several, so that what families share is written once.
template <std::size_t... counts>
constexpr auto joined(const std::array<Row, counts>&... parts) {
    std::array<Row, (counts + ...)> all;
    auto at = all.begin();
    ((at = std::copy(parts.begin(), parts.end(), at)), ...);
    return all;
}

inline constexpr std::array kTokenTable{
    table("model.embed_tokens", Use::embedding, W::vocabulary, W::hidden)};
inline constexpr std::array kNormAndHead{
    norm("model.norm"),
    linear("lm_head", Use::head, W::vocabulary, W::hidden, trait::head_bias, trait::untied)};

inline constexpr std::array kQueryKeyValue{
    linear("self_attn.q_proj", Use::query, W::query, W::hidden, trait::query_bias),
    linear("self_attn.k_proj", Use::key, W::key, W::hidden, trait::query_bias),
    linear("self_attn.v_proj", Use::value, W::value, W::hidden, trait::query_bias)};
inline constexpr auto kAttention = joined(
    kQueryKeyValue,
    std::array{linear("self_attn.o_proj", Use::attention_output, W::hidden, W::output, trait::output_bias)});
inline constexpr std::array kNormPerHead{head_norm("self_attn.q_norm", W::head_dim),
                                         head_norm("self_attn.k_norm", W::head_dim)};
inline constexpr std::array kNormFullWidth{head_norm("self_attn.q_norm", W::query),
                                           head_norm("self_attn.k_norm", W::key)};
inline constexpr std::array kGatedMlp{
    linear("mlp.gate_proj", Use::gate, W::intermediate, W::hidden, trait::mlp_bias, trait::dense),
    linear("mlp.up_proj", Use::up, W::intermediate, W::hidden, trait::mlp_bias, trait::dense),
    linear("mlp.down_proj", Use::down, W::hidden, W::intermediate, trait::mlp_bias, trait::dense)};
inline constexpr std::array kTwoNorms{norm("input_layernorm"), norm("post_attention_layernorm")};

constexpr Traits kAttentionBias = trait::query_bias | trait::output_bias;
constexpr Traits kAllBiases = kAttentionBias | trait::mlp_bias | trait::norm_bias;
}  // namespace families

}  // namespace wirewise
