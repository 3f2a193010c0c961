#include "model/strategy/native/norm.hpp"

#include "model/strategy/native/kernels.hpp"

namespace wirewise {

BufferId NormEmitter::output_buffer(std::string_view name) {
    return context_.build().transient(name, bytes_of(context_.tokens() * width(), context_.compute_type()),
                                      context_.compute_type(), Role::activation, context_.streams.compute);
}

void NormEmitter::append_parameters(std::vector<Operand>& operands, const Norm& norm) const {
    for (const Slice slice : {norm.weight, norm.bias})
        if (!slice.empty()) operands.push_back(parameters_.weight(norm.unit, slice));
}

void NormEmitter::append_gradients(std::vector<Operand>& operands, const Norm& norm) const {
    for (const Slice slice : {norm.weight, norm.bias})
        if (!slice.empty()) operands.push_back(parameters_.gradient(norm.unit, slice));
}

// Statistics per token: rstd, and the mean for LayerNorm, both fp32.
NormSaved NormEmitter::forward(const Norm& norm, BufferId input) {
    ProgramBuilder& build = context_.build();
    const int statistics = context_.model().norm == NormKind::rms ? 1 : 2;
    NormSaved saved{.input = input, .output = output_buffer(norm.name)};
    saved.statistics =
        build.transient("norm statistics", bytes_of(context_.tokens() * statistics, DType::fp32), DType::fp32,
                        Role::activation, context_.streams.compute);
    std::vector<Operand> operands{build.read(input)};
    append_parameters(operands, norm);
    operands.push_back(build.write(saved.output));
    operands.push_back(build.write(saved.statistics));
    build.compute(
        context_.streams.compute, norm.name,
        norm_kernel(PointwiseKind::norm_forward, context_.tokens(), width(), context_.compute_type()),
        operands);
    return saved;
}

void NormEmitter::recompute(const Norm& norm, NormSaved& saved) {
    ProgramBuilder& build = context_.build();
    saved.output = output_buffer(norm.name);
    std::vector<Operand> operands{build.read(saved.input)};
    append_parameters(operands, norm);
    operands.push_back(build.read(saved.statistics));
    operands.push_back(build.write(saved.output));
    build.compute(
        context_.streams.compute, norm.name,
        norm_kernel(PointwiseKind::norm_recompute, context_.tokens(), width(), context_.compute_type()),
        operands);
}

void NormEmitter::backward(const Norm& norm, const NormSaved& saved, Operand dy, Operand dx) {
    ProgramBuilder& build = context_.build();
    std::vector<Operand> operands{dy, build.read(saved.input)};
    append_parameters(operands, norm);
    operands.push_back(build.read(saved.statistics));
    operands.push_back(dx);
    append_gradients(operands, norm);
    build.compute(context_.streams.compute, norm.name,
                  norm_kernel(PointwiseKind::norm_backward, context_.tokens(), width(),
                              context_.compute_type(), parameters_.accumulates()),
                  operands);
}

}  // namespace wirewise
