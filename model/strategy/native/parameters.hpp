// Our runtime's ParameterPolicy: weights, gradients and optimizer states of every strategy, from four
// switches.
#pragma once

#include "model/strategy/native/optimizer.hpp"

namespace wirewise {

class NativeParameters final : public ParameterPolicy {
  public:
    explicit NativeParameters(NativeContext& context)
        : weights_(context), gradients_(context), optimizer_(context, weights_, gradients_) {}

    void begin_step() override { weights_.begin_step(); }
    void before_forward(Unit unit) override;
    void after_forward(Unit unit) override { weights_.done(unit); }
    void before_backward(Unit unit) override;
    void after_backward(Unit unit) override;
    void end_backward() override {}
    void update() override { optimizer_.update(); }

    Operand weight(Unit unit, Slice slice) const { return weights_.operand(unit, slice); }
    Operand gradient(Unit unit, Slice slice) const { return gradients_.operand(unit, slice); }
    BufferId stored(Unit unit) const { return weights_.stored(unit); }
    DType gradient_type() const { return gradients_.type(); }
    bool accumulates() const { return gradients_.accumulates(); }
    BufferId loss() const { return optimizer_.loss(); }

  private:
    Weights weights_;
    Gradients gradients_;
    Optimizer optimizer_;
};

}  // namespace wirewise
