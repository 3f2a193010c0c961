// RMSNorm and LayerNorm of one unit, forward, recomputed and backward.
#pragma once

#include "model/strategy/native/parameters.hpp"

namespace wirewise {

// What a norm leaves for its backward besides its input.
struct NormSaved {
    BufferId input{}, output{}, statistics{};
};

class NormEmitter {
  public:
    NormEmitter(NativeContext& context, NativeParameters& parameters) : context_(context), parameters_(parameters) {}

    NormSaved forward(std::string_view name, Unit unit, std::size_t index, BufferId input);
    // The output once more, from the input and its saved statistics.
    void recompute(std::string_view name, Unit unit, std::size_t index, NormSaved& saved);
    // dx: `update` adds to the residual's gradient, `write` replaces.
    void backward(std::string_view name, Unit unit, std::size_t index, const NormSaved& saved, Operand dy, Operand dx);

  private:
    std::int64_t width() const { return context_.model().hidden; }
    BufferId output_buffer(std::string_view name);
    void append_parameters(std::vector<Operand>& operands, Unit unit, std::size_t index) const;
    void append_gradients(std::vector<Operand>& operands, Unit unit, std::size_t index) const;

    NativeContext& context_;
    NativeParameters& parameters_;
};

}  // namespace wirewise
