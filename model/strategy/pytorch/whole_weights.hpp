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

// The weights as they are before a wrapper cuts them; not yet allocated.
std::vector<BufferId> weights_to_cut(PytorchContext& context);

// The model's class builds it on the GPU: these weights, and of a tied head one of its own, which goes when
// it is tied.
void build_model(PytorchContext& context, std::span<const BufferId> weights);

// A name for a weight's buffers: its own, below the layer.
std::string_view name_of(const Weight& weight);

}  // namespace wirewise
