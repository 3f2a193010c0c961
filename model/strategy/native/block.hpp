// One decoder layer: norms, attention, feed-forward and residuals in the arrangement of the model's family,
// forward, recomputed and backward.
#pragma once

#include "model/strategy/native/attention.hpp"
#include "model/strategy/native/experts.hpp"
#include "model/strategy/native/norm.hpp"

namespace wirewise {

class BlockEmitter {
  public:
    BlockEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context),
          norms_(context, parameters),
          attention_(context, parameters),
          mlp_(context, parameters),
          experts_(context, parameters) {}

    // Returns the layer's output; keeps what the backward needs.
    BufferId forward(std::int32_t layer, BufferId x);
    // `dx` holds the gradient of the layer's output and becomes that of its input.
    void backward(std::int32_t layer, BufferId dx);
    void begin_micro_batch() { saved_.assign(static_cast<std::size_t>(context_.model().layer_count()), {}); }

  private:
    struct Saved {
        BufferId input{}, middle{};
        NormSaved attention_norm, mlp_norm, attention_post_norm, mlp_post_norm;
        AttentionSaved attention;
        MlpSaved mlp;
        ExpertsSaved experts;
    };
    const Layer& layer_of(Unit unit) const { return context_.model().layer(unit.layer); }
    Norm norm_at(Unit unit, std::string_view name, std::size_t index) const;
    Norm attention_norm(Unit unit) const;
    Norm mlp_norm(Unit unit) const;
    Norm attention_post_norm(Unit unit) const;
    Norm mlp_post_norm(Unit unit) const;
    bool one_norm_for_both(Unit unit) const;
    BufferId activation(std::string_view name);
    void add(BufferId a, BufferId b, BufferId sum);
    Saved& saved_of(Unit unit) { return saved_[static_cast<std::size_t>(unit.layer)]; }

    BufferId attention_forward(Unit unit, Saved& saved);
    BufferId mlp_forward(Unit unit, Saved& saved, BufferId x, bool down_too);
    void feed_forward(Unit unit, Saved& saved, BufferId input, Operand y, std::optional<Operand> addend);
    void feed_forward_backward(Unit unit, Saved& saved, Operand dy, Operand dx);
    void recompute_all(Unit unit, Saved& saved);
    void recompute_mlp(Unit unit, Saved& saved);
    void recompute_attention(Unit unit, Saved& saved);
    void mlp_backward(Unit unit, Saved& saved, BufferId dx);
    void attention_backward(Unit unit, Saved& saved, BufferId dx);
    void parallel_backward(Unit unit, Saved& saved, BufferId dx);

    NativeContext& context_;
    NormEmitter norms_;
    AttentionEmitter attention_;
    MlpEmitter mlp_;
    ExpertsEmitter experts_;
    std::vector<Saved> saved_;
};

}  // namespace wirewise
