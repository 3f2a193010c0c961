// The modules of a Hugging Face decoder as their Python runs them: the same expressions in the same order, so
// that the same temporaries live and autograd keeps the same tensors. Source:
// transformers/models/{llama,mistral,qwen2,qwen3,gemma2,phi,mixtral}/modeling_*.py (5.x).
#pragma once

#include "model/strategy/pytorch/context.hpp"
#include "model/strategy/pytorch/ops.hpp"

namespace wirewise {

class Modules {
  public:
    explicit Modules(PytorchContext& context) : context_(context), tape_(context.tape) {}

    // The rotary module runs once per forward; its cosines and sines serve all layers.
    void begin_forward();
    void end_forward();
    // Autocast's cache of cast weights ends with its context: a recomputation enters a fresh one.
    void clear_autocast_cache();

    Tensor embed(const Tensor& ids);
    Tensor layer(std::int32_t index, const Tensor& x);
    Tensor last_norm(const Tensor& x);
    Tensor head(const Tensor& x);

    // Shared with compiled layers.
    Tensor weight(WeightId id) const;
    std::optional<Tensor> find(Unit unit, ParameterUse use, int nth = 0) const;
    std::optional<Tensor> find_bias(Unit unit, ParameterUse owner) const;
    const Tensor& cosine() const { return cosine_; }
    const Tensor& sine() const { return sine_; }
    AttentionForm attention_form(std::int32_t index) const;
    // Whether attention gets a mask as a tensor in this layer.
    bool masked(std::int32_t index) const;
    Attention attention_kernel(std::int32_t index, DType type) const;

  private:
    Tensor norm(Unit unit, const Tensor& x, int nth);
    Tensor rms_norm(const Tensor& x, const Tensor& weight);
    Tensor layer_norm(const Tensor& x, const Tensor* weight, const Tensor* bias);
    Tensor chained_layer_norm(const Tensor& x, const Tensor& weight);
    Tensor residual_dropout(const Tensor& x);
    Tensor residual_scale(const Tensor& x);
    void make_mask();
    Tensor attention(std::int32_t index, const Tensor& x);
    Tensor rotate(const Tensor& x, const AttentionShape& shape);
    bool joins_rotated(const AttentionShape& shape) const;
    Tensor rotate_all(const Tensor& x);
    struct Heads {
        Tensor q, k, v;
    };
    Heads plain_heads(std::int32_t index, const Tensor& x);
    Heads fused_heads(std::int32_t index, const Tensor& x);
    void rotate_heads(Heads& heads, const AttentionShape& shape);
    Heads latent_heads(std::int32_t index, const Tensor& x);
    Tensor head_norm(const Tensor& x, std::int64_t head_dim, const Tensor& scale);
    Tensor feed_forward(std::int32_t index, const Tensor& x);
    struct MlpUses {
        ParameterUse gate, up, gate_up, down;
    };
    Tensor mlp(std::int32_t index, const Tensor& x, const MlpUses& uses);
    Tensor experts(std::int32_t index, const Tensor& x);
    Tensor activate(const Tensor& x, Activation kind);
    const ModuleForm& form() const { return context_.model().form; }

    Tensor project(Unit unit, ParameterUse use, const Tensor& x);
    Tensor autocast_weight(WeightId id);

    PytorchContext& context_;
    Tape& tape_;
    Tensor cosine_, sine_;
    Tensor mask_;  // boolean, of layers that need one; in eager attention what is added to the scores
    std::vector<Tensor> autocast_cache_;  // by weight; lives through one forward
};

}  // namespace wirewise
