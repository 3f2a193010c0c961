// Weights that every rank keeps whole.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class WholeWeights {
  public:
    explicit WholeWeights(PytorchContext& context);
    BufferId buffer(WeightId weight) const { return buffers_[index_of(weight)]; }
    Bytes bytes(WeightId weight) const;
    std::span<const BufferId> buffers() const { return buffers_; }
    // AccumulateGrad with a gradient there already: added in place.
    void accumulate(WeightId weight, const Tensor& gradient, BufferId into);

  private:
    PytorchContext& context_;
    std::vector<BufferId> buffers_;
};

// A name for a weight's buffers: its own, below the layer.
std::string_view name_of(const Weight& weight);

}  // namespace wirewise
