#include "model/strategy/native/attention.hpp"

namespace wirewise {

Linear AttentionEmitter::output_projection(Unit unit) const {
    const UnitLayout& layout = context_.layout.of(unit);
    return {"attention output",
            unit,
            {shape(unit).output_width(), context_.model().hidden},
            layout.of({ParameterUse::attention_output}),
            layout.biases_of({ParameterUse::attention_output})};
}

BufferId AttentionEmitter::activation(std::string_view name, std::int64_t columns) {
    const DType type = context_.compute_type();
    return context_.build().transient(name, bytes_of(context_.tokens() * columns, type), type,
                                      Role::activation, context_.streams.compute);
}

void AttentionEmitter::normalize_and_rotate(Unit unit, AttentionSaved& saved) {
    ProgramBuilder& build = context_.build();
    const AttentionShape& dims = shape(unit);
    const DType type = context_.compute_type();
    saved.rotated = saved.projection.projected;
    if (dims.head_norm) {
        const std::int64_t columns = dims.query_width() + dims.key_width();
        saved.rotated = activation("normed q, k", columns);
        saved.head_statistics = build.transient(
            "head norm statistics", bytes_of(context_.tokens() * (dims.heads + dims.kv_heads), DType::fp32),
            DType::fp32, Role::activation, context_.streams.compute);
        const Slice weight = context_.layout.of(unit).of({ParameterUse::head_norm});
        build.compute(context_.streams.compute, "q/k norm",
                      head_norm_kernel(dims, context_.tokens(), type, false, false),
                      {build.read(saved.projection.projected), parameters_.weight(unit, weight),
                       build.write(saved.rotated), build.write(saved.head_statistics)});
    }
    if (context_.model().position == PositionKind::rotary)
        build.compute(context_.streams.compute, "rope", rope_kernel(dims, context_.tokens(), type, false),
                      {build.update(saved.rotated)});
}

AttentionSaved AttentionEmitter::forward_to_output(Unit unit, BufferId input) {
    ProgramBuilder& build = context_.build();
    const AttentionShape& dims = shape(unit);
    AttentionSaved saved{.projection = projections_.forward(unit, input)};
    normalize_and_rotate(unit, saved);
    saved.output = activation("attention", dims.output_width());
    saved.log_sum_exp = build.transient("log-sum-exp", bytes_of(context_.tokens() * dims.heads, DType::fp32),
                                        DType::fp32, Role::activation, context_.streams.compute);
    build.compute(context_.streams.compute, "attention",
                  attention_kernel(dims, context_.plan().micro_batch, context_.plan().sequence_length,
                                   context_.compute_type(), false),
                  {build.read(saved.rotated), build.read(saved.projection.projected),
                   build.write(saved.output), build.write(saved.log_sum_exp)});
    return saved;
}

AttentionSaved AttentionEmitter::forward(Unit unit, BufferId input, Operand y,
                                         std::optional<Operand> addend) {
    const AttentionSaved saved = forward_to_output(unit, input);
    linears_.forward(output_projection(unit), context_.tokens(), context_.build().read(saved.output), y,
                     addend);
    return saved;
}

void AttentionEmitter::recompute_heads(Unit unit, AttentionSaved& saved) {
    if (shape(unit).head_norm) normalize_and_rotate(unit, saved);
}

void AttentionEmitter::head_norm_backward(Unit unit, const AttentionSaved& saved, BufferId gradient) {
    ProgramBuilder& build = context_.build();
    const Slice weight = context_.layout.of(unit).of({ParameterUse::head_norm});
    build.compute(
        context_.streams.compute, "q/k norm",
        head_norm_kernel(shape(unit), context_.tokens(), context_.compute_type(), true,
                         parameters_.accumulates()),
        {build.update(gradient), build.read(saved.projection.projected), parameters_.weight(unit, weight),
         build.read(saved.head_statistics), parameters_.gradient(unit, weight)});
}

// cuDNN's backward with grouped queries needs an fp32 sum of dQ and its own plan workspace, together
// 8 x tokens x heads x head_dim + 4 x tokens x heads bytes (probed on an H200 with cuDNN 9.19, 2026-11-30).
void AttentionEmitter::backward(Unit unit, const AttentionSaved& saved, Operand dy, Operand dx) {
    ProgramBuilder& build = context_.build();
    const AttentionShape& dims = shape(unit);
    const DType type = context_.compute_type();
    const std::int64_t rows = context_.tokens();
    const BufferId doutput = activation("attention gradient", dims.output_width());
    linears_.data_gradient(output_projection(unit), rows, dy, build.write(doutput));
    linears_.weight_gradient(output_projection(unit), rows, dy, build.read(saved.output));
    const BufferId dprojected =
        activation("qkv gradient", dims.query_width() + dims.key_width() + dims.value_width());
    const BufferId workspace = build.transient(
        "attention workspace", bytes_of(2 * rows * dims.query_width() + rows * dims.heads, DType::fp32),
        DType::fp32, Role::workspace, context_.streams.compute);
    build.compute(
        context_.streams.compute, "attention",
        attention_kernel(dims, context_.plan().micro_batch, context_.plan().sequence_length, type, true),
        {build.read(saved.rotated), build.read(saved.projection.projected), build.read(saved.output),
         build.read(saved.log_sum_exp), build.read(doutput), build.write(dprojected),
         build.write(workspace)});
    if (context_.model().position == PositionKind::rotary)
        build.compute(context_.streams.compute, "rope", rope_kernel(dims, rows, type, true),
                      {build.update(dprojected)});
    if (dims.head_norm) head_norm_backward(unit, saved, dprojected);
    projections_.backward(unit, saved.projection, dprojected, dx);
}

}  // namespace wirewise
