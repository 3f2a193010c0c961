// RMSNorm and LayerNorm of one unit, forward, recomputed and backward.
#pragma once

#include "model/strategy/native/parameters.hpp"

namespace wirewise {

// One norm: its name for people and its parameters in the unit's flat buffer (empty for a norm without any).
struct Norm {
    std::string_view name;
    Unit unit;
    Slice weight, bias;
};

// What a norm leaves for its backward besides its input.
struct NormSaved {
    BufferId input{}, output{}, statistics{};
};

class NormEmitter {
  public:
    NormEmitter(NativeContext& context, NativeParameters& parameters)
        : context_(context), parameters_(parameters) {}

    NormSaved forward(const Norm& norm, BufferId input);
    // The output once more, from the input and its saved statistics.
    void recompute(const Norm& norm, NormSaved& saved);
    // dx: `update` adds to the residual's gradient, `write` replaces.
    void backward(const Norm& norm, const NormSaved& saved, Operand dy, Operand dx);

  private:
    std::int64_t width() const { return context_.model().hidden; }
    BufferId output_buffer(std::string_view name);
    void append_parameters(std::vector<Operand>& operands, const Norm& norm) const;
    void append_gradients(std::vector<Operand>& operands, const Norm& norm) const;

    NativeContext& context_;
    NativeParameters& parameters_;
};

}  // namespace wirewise
