// Feed-forward sub-layers between their norm and the residual. One gated or plain MLP is a part; a dense
// layer is one part, a routed layer is a router, its experts (one part over the tokens sent to them) and,
// where the model has them, shared experts (another part).
#pragma once

#include "model/strategy/native/linear.hpp"

namespace wirewise {

// An MLP over `rows` rows: expansion (gate | up, or up alone), activation, contraction.
struct MlpPart {
    std::int64_t rows = 0;
    MlpShape shape;  // gated, activation, intermediate
    Linear expansion, contraction;
};

struct MlpSaved {
    BufferId input{};     // the normed input
    BufferId expanded{};  // gate | up per row
    BufferId product{};   // input of the contraction
};

class MlpEmitter {
  public:
    MlpEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context), linears_(context, parameters) {}

    MlpPart dense(Unit unit) const;
    MlpPart routed(Unit unit) const;  // rows = tokens x top_k: the expected load of all experts together
    MlpPart shared(Unit unit) const;

    MlpSaved forward(const MlpPart& part, BufferId input, Operand y,
                     std::optional<Operand> addend = std::nullopt);
    // Everything but the contraction, once more.
    MlpSaved forward_to_product(const MlpPart& part, BufferId input);
    void recompute_product(const MlpPart& part, MlpSaved& saved);
    void backward(const MlpPart& part, const MlpSaved& saved, Operand dy, Operand dx);

  private:
    struct Uses {
        std::initializer_list<ParameterUse> expansion, contraction;
    };
    MlpPart part(Unit unit, std::int64_t rows, std::int64_t intermediate, const Uses& uses) const;
    BufferId activation(std::string_view name, std::int64_t rows, std::int64_t columns);

    NativeContext& context_;
    LinearEmitter linears_;
};

}  // namespace wirewise
