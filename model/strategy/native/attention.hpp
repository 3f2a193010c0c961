// The attention sub-layer between its norm and the residual: projections, q/k norm, RoPE, attention, output
// projection.
#pragma once

#include "model/strategy/native/projection.hpp"

namespace wirewise {

struct AttentionSaved {
    ProjectionSaved projection;
    BufferId rotated{};  // normed and rotated q | k; equal to the projection without q/k norms
    BufferId head_statistics{};
    BufferId output{}, log_sum_exp{};
};

class AttentionEmitter {
  public:
    AttentionEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context),
          parameters_(parameters),
          linears_(context, parameters),
          projections_(context, parameters) {}

    // Writes y (+ addend) = attention(input) W_o.
    AttentionSaved forward(Unit unit, BufferId input, Operand y, std::optional<Operand> addend);
    // Everything but the output projection, once more.
    AttentionSaved forward_to_output(Unit unit, BufferId input);
    // Normed and rotated q, k once more (pointwise recompute).
    void recompute_heads(Unit unit, AttentionSaved& saved);
    // dy: gradient of the output projection's result. dx: gradient of the normed input.
    void backward(Unit unit, const AttentionSaved& saved, Operand dy, Operand dx);

  private:
    const AttentionShape& shape(Unit unit) const { return context_.model().layer(unit.layer).attention; }
    Linear output_projection(Unit unit) const;
    BufferId activation(std::string_view name, std::int64_t columns);
    void normalize_and_rotate(Unit unit, AttentionSaved& saved);
    void head_norm_backward(Unit unit, const AttentionSaved& saved, BufferId gradient);

    NativeContext& context_;
    NativeParameters& parameters_;
    LinearEmitter linears_;
    ProjectionEmitter projections_;
};

}  // namespace wirewise
