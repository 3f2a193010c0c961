// The one skeleton of a training step, and the two small interfaces it asks. A runtime is a LayerEmitter
// (kernels, what autograd keeps) and a ParameterPolicy (where parameters, gradients and states live and when
// they move).
#pragma once

#include <memory>

#include "model/program/builder.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

// A group of parameters that is gathered, reduced and updated together: the root (embedding, last norm, head)
// or one decoder layer.
struct Unit {
    std::int32_t layer = -1;  // -1: the root
    bool root() const { return layer < 0; }
};

// Everything emission shares. `micro_batch` and `last_micro_batch` follow the schedule.
struct Emission {
    const Transformer& model;
    const ParallelPlan& plan;
    Phase phase;
    ProgramBuilder build;
    int micro_batch = 0;
    bool last_micro_batch() const { return micro_batch + 1 == plan.gradient_accumulation; }
    const std::vector<Parameter>& parameters_of_layer(std::int32_t layer) const {
        return model.layer(layer).parameters;
    }
};

// Calls come in this order, per micro-batch: before_forward(root), before_forward(0), after_forward(0), ...,
// (after_forward(root), where the loss is computed outside of the model),
// before_backward(root), before_backward(L-1), after_backward(L-1), ..., after_backward(root); then update()
// once.
class ParameterPolicy {
  public:
    virtual ~ParameterPolicy() = default;
    virtual void begin_step() = 0;
    virtual void before_forward(Unit unit) = 0;
    virtual void after_forward(Unit unit) = 0;
    virtual void before_backward(Unit unit) = 0;
    virtual void after_backward(Unit unit) = 0;
    virtual void end_backward() = 0;  // after the last unit of a micro-batch
    virtual void update() = 0;
};

class LayerEmitter {
  public:
    virtual ~LayerEmitter() = default;
    virtual void begin_micro_batch() = 0;
    virtual void embedding_forward() = 0;
    virtual void layer_forward(std::int32_t layer) = 0;
    virtual void
    head_and_loss() = 0;  // last norm, head, loss; with backward: up to where layers' gradients start
    virtual void head_backward() = 0;
    // A loss that is computed outside of the model, after the root's after_forward and before its
    // before_backward; head_and_loss and head_backward are then without it.
    virtual void loss() {}
    virtual void loss_backward() {}
    virtual void layer_backward(std::int32_t layer) = 0;
    virtual void embedding_backward() = 0;
};

// Walks schedule -> micro-batch -> layer -> forward/backward -> update.
void emit_step(Emission& emission, LayerEmitter& layers, ParameterPolicy& parameters);

}  // namespace wirewise
