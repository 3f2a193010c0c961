#include "model/strategy/emission.hpp"

namespace wirewise {

namespace {

constexpr Unit kRoot{};

void forward(const Emission& emission, LayerEmitter& layers, ParameterPolicy& parameters) {
    parameters.before_forward(kRoot);
    layers.embedding_forward();
    for (Unit unit{0}; unit.layer < emission.model.layer_count(); ++unit.layer) {
        parameters.before_forward(unit);
        layers.layer_forward(unit.layer);
        parameters.after_forward(unit);
    }
    layers.head_and_loss();
    if (!emission.plan.loss.outside) return;
    parameters.after_forward(kRoot);
    layers.loss();
}

void backward(Emission& emission, LayerEmitter& layers, ParameterPolicy& parameters) {
    emission.build.in_section(Section::backward);
    if (emission.plan.loss.outside) layers.loss_backward();
    parameters.before_backward(kRoot);
    layers.head_backward();
    for (Unit unit{static_cast<std::int32_t>(emission.model.layer_count()) - 1}; !unit.root(); --unit.layer) {
        parameters.before_backward(unit);
        layers.layer_backward(unit.layer);
        parameters.after_backward(unit);
    }
    layers.embedding_backward();
    parameters.after_backward(kRoot);
    parameters.end_backward();
}

}  // namespace

void emit_step(Emission& emission, LayerEmitter& layers, ParameterPolicy& parameters) {
    parameters.begin_step();
    const bool training = emission.phase != Phase::evaluation;
    const std::int64_t micro_batches = training ? emission.plan.gradient_accumulation : 1;
    for (emission.micro_batch = 0; emission.micro_batch < micro_batches; ++emission.micro_batch) {
        emission.build.at_micro_batch(emission.micro_batch);
        emission.build.in_section(Section::forward);
        layers.begin_micro_batch();
        forward(emission, layers, parameters);
        if (training) backward(emission, layers, parameters);
    }
    if (!training) return;
    emission.build.in_section(Section::update);
    emission.build.at_layer(-1);
    parameters.update();
}

}  // namespace wirewise
