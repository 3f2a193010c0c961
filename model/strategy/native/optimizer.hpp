// The update: gradient norm, optional clipping, AdamW on what this rank updates, and sending the result to
// those who keep whole parameters. Units are updated in the order their gradients arrive, so that the last
// reductions hide behind the first updates; clipping must know the norm of all gradients first.
#pragma once

#include "model/strategy/native/gradients.hpp"
#include "model/strategy/native/weights.hpp"

namespace wirewise {

class Optimizer {
  public:
    Optimizer(NativeContext& context, Weights& weights, Gradients& gradients);

    BufferId loss() const { return loss_; }
    void update();

  private:
    struct States {
        BufferId first{}, second{}, master{};
    };
    void declare();
    bool keeps_moments() const;
    std::vector<Unit> in_order_of_arrival() const;
    void add_squared_norm(Unit unit);
    void reduce_scalars();
    void update(Unit unit);
    Operand parameters_to_update(Unit unit) const;

    NativeContext& context_;
    Weights& weights_;
    Gradients& gradients_;
    std::vector<States> states_;  // by unit
    BufferId loss_{}, squared_norm_{}, clip_factor_{};
};

}  // namespace wirewise
