// A routed feed-forward sub-layer: router, tokens sent to their experts, experts, results brought back and
// weighted, shared experts added. Experts are priced at their expected load (tokens x top_k rows in all);
// real routing is uneven.
#pragma once

#include "model/strategy/native/mlp.hpp"

namespace wirewise {

struct ExpertsSaved {
    BufferId input{}, scores{}, sent{}, returned{};
    MlpSaved routed, shared;
};

class ExpertsEmitter {
  public:
    ExpertsEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context), linears_(context, parameters), mlp_(context, parameters) {}

    ExpertsSaved forward(Unit unit, BufferId input, Operand y, std::optional<Operand> addend);
    void backward(Unit unit, const ExpertsSaved& saved, Operand dy, Operand dx);

  private:
    const MlpShape& shape(Unit unit) const { return context_.model().layer(unit.layer).mlp; }
    Linear router(Unit unit) const;
    BufferId activation(std::string_view name, std::int64_t rows, std::int64_t columns);
    void move_rows(std::string_view name, Unit unit, std::span<const Operand> operands);

    NativeContext& context_;
    LinearEmitter linears_;
    MlpEmitter mlp_;
};

}  // namespace wirewise
