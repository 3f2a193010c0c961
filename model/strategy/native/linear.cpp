#include "model/strategy/native/linear.hpp"

namespace wirewise {

void LinearEmitter::forward(const Linear& linear, std::int64_t rows, Operand x, Operand y,
                            std::optional<Operand> addend) {
    std::vector<Operand> operands{x, parameters_.weight(linear.unit, linear.weight)};
    if (!linear.bias.empty()) operands.push_back(parameters_.weight(linear.unit, linear.bias));
    if (addend) operands.push_back(*addend);
    operands.push_back(y);
    context_.build().compute(context_.streams.compute, linear.name,
                             linear_forward_kernel(rows, linear.shape, context_.compute_type(),
                                                   !linear.bias.empty(), addend.has_value()),
                             operands);
}

void LinearEmitter::data_gradient(const Linear& linear, std::int64_t rows, Operand dy, Operand dx) {
    context_.build().compute(
        context_.streams.compute, linear.name,
        data_gradient_kernel(rows, linear.shape, context_.compute_type(), dx.access == Access::update),
        {dy, parameters_.weight(linear.unit, linear.weight), dx});
}

void LinearEmitter::weight_gradient(const Linear& linear, std::int64_t rows, Operand dy, Operand x,
                                    bool more) {
    const bool adds = more || parameters_.accumulates();
    const auto target = [&](Slice slice) {
        Operand operand = parameters_.gradient(linear.unit, slice);
        operand.access = adds ? Access::update : Access::write;
        return operand;
    };
    std::vector<Operand> operands{dy, x, target(linear.weight)};
    if (!linear.bias.empty()) operands.push_back(target(linear.bias));
    context_.build().compute(context_.streams.compute, linear.name,
                             weight_gradient_kernel(rows, linear.shape, context_.compute_type(),
                                                    parameters_.gradient_type(), !linear.bias.empty(), adds),
                             operands);
}

}  // namespace wirewise
