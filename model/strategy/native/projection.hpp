// From the normed input to q | k | v: one GEMM, or the low-rank pairs of multi-head latent attention.
#pragma once

#include "model/strategy/native/linear.hpp"

namespace wirewise {

struct ProjectionSaved {
    BufferId input{};      // the normed input
    BufferId projected{};  // q | k | v per token
    std::vector<BufferId>
        latents;  // MLA: the compressed query (where there is one) and the compressed key and value
};

class ProjectionEmitter {
  public:
    ProjectionEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context), linears_(context, parameters) {}

    ProjectionSaved forward(Unit unit, BufferId input);
    void backward(Unit unit, const ProjectionSaved& saved, BufferId dprojected, Operand dx);

  private:
    // One path from the input to a range of columns of q | k | v; `down` is empty for a direct projection.
    struct Path {
        Linear down, up;
        bool latent = false;
    };
    const AttentionShape& shape(Unit unit) const { return context_.model().layer(unit.layer).attention; }
    std::int64_t width(Unit unit) const;
    std::vector<Path> paths(Unit unit) const;
    LinearShape shape_of(Unit unit, ParameterUse use) const;
    BufferId activation(std::string_view name, std::int64_t columns, Role role = Role::activation);

    NativeContext& context_;
    LinearEmitter linears_;
};

}  // namespace wirewise
