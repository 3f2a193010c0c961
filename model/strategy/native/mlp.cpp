#include "model/strategy/native/mlp.hpp"

namespace wirewise {

using enum ParameterUse;

MlpPart MlpEmitter::part(Unit unit, std::int64_t rows, std::int64_t intermediate, const Uses& uses) const {
    const UnitLayout& layout = context_.layout.of(unit);
    MlpPart part{.rows = rows, .shape = context_.model().layer(unit.layer).mlp};
    part.shape.intermediate = intermediate;
    const std::int64_t hidden = context_.model().hidden;
    part.expansion = {part.shape.gated ? "gate and up" : "up",
                      unit,
                      {hidden, intermediate * (part.shape.gated ? 2 : 1)},
                      layout.of(uses.expansion),
                      layout.biases_of(uses.expansion)};
    part.contraction = {"down",
                        unit,
                        {intermediate, hidden},
                        layout.of(uses.contraction),
                        layout.biases_of(uses.contraction)};
    return part;
}

MlpPart MlpEmitter::dense(Unit unit) const {
    const std::int64_t width = context_.model().layer(unit.layer).mlp.intermediate;
    return part(unit, context_.tokens(), width, {{gate, up, gate_up}, {down}});
}

MlpPart MlpEmitter::routed(Unit unit) const {
    const MlpShape& shape = context_.model().layer(unit.layer).mlp;
    MlpPart experts = part(unit, context_.tokens() * shape.top_k, shape.intermediate,
                           {{expert_gate, expert_up, expert_gate_up}, {expert_down}});
    experts.expansion.shape.groups = experts.contraction.shape.groups = shape.experts;
    return experts;
}

MlpPart MlpEmitter::shared(Unit unit) const {
    const std::int64_t width = context_.model().layer(unit.layer).mlp.shared_intermediate;
    return part(unit, context_.tokens(), width, {{shared_gate, shared_up, shared_gate_up}, {shared_down}});
}

BufferId MlpEmitter::activation(std::string_view name, std::int64_t rows, std::int64_t columns) {
    const DType type = context_.compute_type();
    return context_.build().transient(name, bytes_of(rows * columns, type), type, Role::activation,
                                      context_.streams.compute);
}

MlpSaved MlpEmitter::forward_to_product(const MlpPart& part, BufferId input) {
    MlpSaved saved{.input = input,
                   .expanded = activation(part.expansion.name, part.rows, part.expansion.shape.outputs)};
    linears_.forward(part.expansion, part.rows, context_.build().read(input),
                     context_.build().write(saved.expanded));
    recompute_product(part, saved);
    return saved;
}

void MlpEmitter::recompute_product(const MlpPart& part, MlpSaved& saved) {
    saved.product = activation("activation", part.rows, part.shape.intermediate);
    context_.build().compute(context_.streams.compute, "activation",
                             activation_kernel(part.shape, part.rows, context_.compute_type(), false),
                             {context_.build().read(saved.expanded), context_.build().write(saved.product)});
}

MlpSaved MlpEmitter::forward(const MlpPart& part, BufferId input, Operand y, std::optional<Operand> addend) {
    const MlpSaved saved = forward_to_product(part, input);
    linears_.forward(part.contraction, part.rows, context_.build().read(saved.product), y, addend);
    return saved;
}

// The gradient of gate | up takes the place of gate | up.
void MlpEmitter::backward(const MlpPart& part, const MlpSaved& saved, Operand dy, Operand dx) {
    ProgramBuilder& build = context_.build();
    const BufferId dproduct = activation("activation gradient", part.rows, part.shape.intermediate);
    linears_.weight_gradient(part.contraction, part.rows, dy, build.read(saved.product));
    linears_.data_gradient(part.contraction, part.rows, dy, build.write(dproduct));
    build.compute(context_.streams.compute, "activation",
                  activation_kernel(part.shape, part.rows, context_.compute_type(), true),
                  {build.read(dproduct), build.update(saved.expanded)});
    linears_.data_gradient(part.expansion, part.rows, build.read(saved.expanded), dx);
    linears_.weight_gradient(part.expansion, part.rows, build.read(saved.expanded), build.read(saved.input));
}

}  // namespace wirewise
