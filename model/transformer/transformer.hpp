// A decoder-only transformer as wirewise sees it: every parameter tensor with its Hugging Face name and
// shape, in module registration order, and the dimensions that decide its kernels. Read from a config.json by
// read_config().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/transformer/module_form.hpp"
#include "model/units/dtype.hpp"

namespace wirewise {

// What a tensor is for; decides which kernel consumes it and to which part of the count it belongs.
enum class ParameterUse : std::uint8_t {
    embedding,
    position_embedding,
    embedding_norm,
    embedding_projection,
    head_projection,
    head,
    query,
    key,
    value,
    query_key_value,
    attention_output,  // linear weights [out, in]
    query_down,
    query_up,
    kv_down,
    kv_up,  // multi-head latent attention (MLA)
    gate,
    up,
    gate_up,
    down,  // dense MLP
    router,
    expert_gate,
    expert_up,
    expert_gate_up,
    expert_down,  // mixture of experts, stacked [experts, ...]
    shared_gate,
    shared_up,
    shared_gate_up,
    shared_down,
    shared_router,
    bias,  // of a linear layer; Parameter::owner says which
    norm,
    norm_bias,  // of the residual stream: the layers' and the last
    head_norm,  // of q and k, or of MLA's compressed vectors
    sinks,
    other,
};

struct Parameter {
    std::string name;  // in a layer: below it, "self_attn.q_proj.weight"; at the root: the full name
    std::vector<std::int64_t> shape;
    ParameterUse use = ParameterUse::other;
    ParameterUse owner = ParameterUse::other;  // of a bias: the use of its weight; else the same as `use`
    bool transposed = false;                   // stored [in, out] (GPT-2's Conv1D, gpt-oss's experts)
    std::int64_t count() const;                // throws OverflowError beyond 2^63
};

enum class NormKind : std::uint8_t { rms, layer, layer_without_parameters };
enum class Activation : std::uint8_t { silu, gelu, gelu_tanh, relu, relu_squared };
enum class PositionKind : std::uint8_t { rotary, learned, alibi, none };

struct RopeScaling {
    std::string kind = "default";  // "default", "llama3", "linear", "dynamic", "yarn", "longrope"
    double factor = 1, low_frequency_factor = 1, high_frequency_factor = 4;
    std::int64_t original_max_position = 0;
};

struct AttentionShape {
    std::int64_t heads = 0, kv_heads = 0;
    std::int64_t head_dim = 0;        // of q and k (MLA: nope + rope parts)
    std::int64_t value_head_dim = 0;  // of v; = head_dim except in MLA
    std::int64_t rotary_dim = 0;      // how many of head_dim rotate; 0: none do
    std::int64_t window = 0;          // how many tokens back a query sees; 0: full causal
    bool chunked = false;             // the window is a fixed chunk instead of a sliding one (Llama 4)
    bool head_norm = false;           // q and k normalised (per head or full width) before RoPE
    bool latent = false;              // MLA
    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t key_width() const { return kv_heads * head_dim; }
    std::int64_t value_width() const { return kv_heads * value_head_dim; }
    std::int64_t output_width() const { return heads * value_head_dim; }
    bool operator==(const AttentionShape&) const = default;
};

struct MlpShape {
    bool gated = true;
    Activation activation = Activation::silu;
    std::int64_t intermediate = 0;         // width of the dense MLP, or of one routed expert
    std::int64_t experts = 0, top_k = 0;   // 0: dense
    std::int64_t shared_intermediate = 0;  // total width of always-active experts beside routed ones
    bool routed() const { return experts > 0; }
    bool operator==(const MlpShape&) const = default;
};

// One decoder layer kind.
struct Layer {
    std::vector<Parameter> parameters;  // in registration order
    AttentionShape attention;
    MlpShape mlp;
    bool parallel_block = false;  // attention and MLP read the same residual input
    bool pre_norms = true;    // a norm before attention (and before the MLP unless parallel with one norm)
    bool post_norms = false;  // a norm on each sub-layer's output (Gemma 2/3, OLMo 2)
    std::int64_t parameter_count() const;
    std::int64_t active_parameter_count() const;  // routed experts counted top_k of experts
};

// A key of the config that was absent or null, and what was assumed.
struct DefaultedKey {
    std::string key, value, from;  // from: "LlamaConfig default", "hidden_size / num_attention_heads", ...
};

struct Transformer {
    std::string name;        // as the user named it
    std::string model_type;  // the config's own
    std::int64_t hidden = 0, vocabulary = 0;
    std::int64_t max_position = 0;  // 0: no limit of its own (ALiBi)
    bool tied_embeddings = false;
    NormKind norm = NormKind::rms;
    double norm_epsilon = 1e-5;
    PositionKind position = PositionKind::rotary;
    double rope_theta = 10000;
    RopeScaling rope_scaling;
    ModuleForm form;
    Dropout dropout;
    std::optional<DType> stored_dtype;  // how the checkpoint is stored: says nothing about training

    // Tensors registered before and after the layers. The last norm stands in root_before where the model
    // registers it there (OPT): look for the use, not the place.
    std::vector<Parameter> root_before, root_after;
    std::string layers_module = "model.layers";  // tensor names: layers_module + "." + index + "." + name
    std::vector<Layer> kinds;                    // distinct layer kinds
    std::vector<std::uint16_t> layers;           // kind of each layer

    std::vector<DefaultedKey> defaulted_keys;
    std::vector<std::string> notes;  // what the reader of a result should know, each one sentence

    const Layer& layer(std::int64_t index) const { return kinds[layers[static_cast<std::size_t>(index)]]; }
    std::int64_t layer_count() const { return static_cast<std::int64_t>(layers.size()); }
    std::int64_t parameters() const;         // exact
    std::int64_t active_parameters() const;  // exact: total - (experts - top_k) x routed-expert parameters
};

// The tensor of this use, or null. For uses that occur once.
const Parameter* find(const std::vector<Parameter>& parameters, ParameterUse use);

// FLOPs a training step needs per token at this sequence length: 6 per matmul parameter that is active (head
// included though tied, embedding lookup not) plus causal attention: 6 x heads x (q/k width + v width) x mean
// tokens seen.
double model_flops_per_token(const Transformer& model, std::int64_t sequence_length);

}  // namespace wirewise
