// Dense MLPs and routed experts.
#include "model/strategy/pytorch/linear_names.hpp"
#include "model/strategy/pytorch/modules.hpp"

namespace wirewise {

using namespace eager;

Tensor Modules::activate(const Tensor& x, Activation kind) {
    switch (kind) {
        case Activation::relu:
            return rectified(tape_, x);
        case Activation::relu_squared:
            return power(tape_, rectified(tape_, x));
        default:
            return form().chained_activation ? chained_gelu(tape_, x, context_.autocast())
                                             : activation(tape_, x);
    }
}

Tensor Modules::mlp(std::int32_t index, const Tensor& x, const MlpUses& uses) {
    const Unit unit{index};
    const MlpShape& shape = context_.model().layer(index).mlp;
    const auto hidden = [&]() -> Tensor {
        if (context_.weights.find(unit, uses.gate_up)) {
            const Tensor fused = project(unit, uses.gate_up, x);
            const Parts halves = split(tape_, fused, fused.columns / 2);
            return multiply(tape_, halves.second, activate(halves.first, shape.activation));
        }
        if (!shape.gated) return activate(project(unit, uses.up, x), shape.activation);
        const Tensor gate = activate(project(unit, uses.gate, x), shape.activation);
        return multiply(tape_, gate, project(unit, uses.up, x));
    };
    return project(unit, uses.down, hidden());
}

// Routed experts at their expected load: each token's row goes to top_k of them.
Tensor Modules::experts(std::int32_t index, const Tensor& x) {
    const Unit unit{index};
    const MlpShape& shape = context_.model().layer(index).mlp;
    const auto stacked = [&](ParameterUse use, const Tensor& y) {
        return expert_linear(tape_, y, *find(unit, use), shape.experts, linear_names(use));
    };
    const Tensor scores = softmax_of_rows(tape_, project(unit, ParameterUse::router, x), DType::fp32);
    const Tensor chosen = slice(tape_, scores, shape.top_k);
    const Tensor factors = cast(tape_, reshape(tape_, chosen, x.rows * shape.top_k, 1, true), x.type);
    const Tensor sent = scatter_rows(tape_, x, shape.top_k);
    Tensor product;
    if (context_.weights.find(unit, ParameterUse::expert_gate_up)) {
        const Tensor fused = stacked(ParameterUse::expert_gate_up, sent);
        const Parts halves = split(tape_, fused, fused.columns / 2);
        product = multiply(tape_, activate(halves.first, shape.activation), halves.second);
    } else if (shape.gated) {
        const Tensor gate = activate(stacked(ParameterUse::expert_gate, sent), shape.activation);
        product = multiply(tape_, gate, stacked(ParameterUse::expert_up, sent));
    } else {
        product = activate(stacked(ParameterUse::expert_up, sent), shape.activation);
    }
    const Tensor returned = multiply(tape_, stacked(ParameterUse::expert_down, product), factors);
    return gather_rows(tape_, returned, shape.top_k);
}

Tensor Modules::feed_forward(std::int32_t index, const Tensor& x) {
    using enum ParameterUse;
    const MlpShape& shape = context_.model().layer(index).mlp;
    if (!shape.routed()) return mlp(index, x, {gate, up, gate_up, down});
    const Tensor routed = experts(index, x);
    if (shape.shared_intermediate == 0) return routed;
    Tensor common = mlp(index, x, {shared_gate, shared_up, shared_gate_up, shared_down});
    if (context_.weights.find({index}, shared_router))
        common = multiply(tape_, common, activation(tape_, project({index}, shared_router, x)));
    return add(tape_, routed, common);
}

}  // namespace wirewise
