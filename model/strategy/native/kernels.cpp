#include "model/strategy/native/kernels.hpp"

#include "model/strategy/moments.hpp"

namespace wirewise {

namespace {

ActivationKind kind_of(Activation activation) { return static_cast<ActivationKind>(activation); }
static_assert(static_cast<int>(Activation::relu_squared) == static_cast<int>(ActivationKind::relu_squared));

Bytes matrix(std::int64_t rows, std::int64_t columns, DType type) { return bytes_of(rows * columns, type); }

}  // namespace

Kernel linear_forward_kernel(std::int64_t rows, LinearShape shape, DType type, bool bias, bool addend) {
    return Gemm{.layout = GemmLayout::forward,
                .m = rows,
                .n = shape.outputs,
                .k = shape.inputs,
                .type = type,
                .result = type,
                .bias = bias,
                .addend = addend,
                .groups = shape.groups};
}

Kernel data_gradient_kernel(std::int64_t rows, LinearShape shape, DType type, bool accumulate) {
    return Gemm{.layout = GemmLayout::data_gradient,
                .m = rows,
                .n = shape.inputs,
                .k = shape.outputs,
                .type = type,
                .result = type,
                .accumulate = accumulate,
                .groups = shape.groups};
}

Kernel weight_gradient_kernel(std::int64_t rows, LinearShape shape, DType type, DType result, bool bias,
                              bool accumulate) {
    return Gemm{.layout = GemmLayout::weight_gradient,
                .m = shape.outputs,
                .n = shape.inputs,
                .k = rows,
                .type = type,
                .result = result,
                .accumulate = accumulate,
                .bias = bias,
                .groups = shape.groups};
}

Kernel attention_kernel(const AttentionShape& shape, std::int64_t batch, std::int64_t sequence, DType type,
                        bool backward) {
    return Attention{.backward = backward,
                     .batch = batch,
                     .sequence = sequence,
                     .heads = shape.heads,
                     .kv_heads = shape.kv_heads,
                     .head_dim = shape.head_dim,
                     .value_head_dim = shape.value_head_dim,
                     .window = shape.window < sequence ? shape.window : 0,
                     .type = type};
}

// Forward and recompute: x in, y out. Backward: dy, x and dx in, dx out.
Kernel norm_kernel(PointwiseKind kind, std::int64_t rows, std::int64_t columns, DType type, bool accumulate) {
    const bool backward = kind == PointwiseKind::norm_backward;
    return Pointwise{.kind = kind,
                     .accumulate = accumulate,
                     .rows = rows,
                     .columns = columns,
                     .traffic = matrix(rows, columns, type) * (backward ? 4 : 2) + Bytes(rows) * 4,
                     .type = type};
}

Kernel rope_kernel(const AttentionShape& shape, std::int64_t rows, DType type, bool backward) {
    const std::int64_t columns = (shape.heads + shape.kv_heads) * shape.rotary_dim;
    return Pointwise{.kind = backward ? PointwiseKind::rope_backward : PointwiseKind::rope_forward,
                     .rows = rows,
                     .columns = columns,
                     .traffic = matrix(rows, columns, type) * 2,
                     .type = type};
}

Kernel head_norm_kernel(const AttentionShape& shape, std::int64_t rows, DType type, bool backward,
                        bool accumulate) {
    const std::int64_t columns = shape.query_width() + shape.key_width();
    return Pointwise{.kind = backward ? PointwiseKind::head_norm_backward : PointwiseKind::head_norm_forward,
                     .accumulate = accumulate,
                     .rows = rows,
                     .columns = columns,
                     .traffic = matrix(rows, columns, type) * (backward ? 3 : 2),
                     .type = type};
}

// Forward: gate, up in, product out. Backward: dproduct, gate, up in, dgate, dup out (in place).
Kernel activation_kernel(const MlpShape& shape, std::int64_t rows, DType type, bool backward) {
    const int operands = backward ? (shape.gated ? 5 : 3) : (shape.gated ? 3 : 2);
    return Pointwise{
        .kind = backward ? PointwiseKind::activation_backward : PointwiseKind::activation_forward,
        .activation = kind_of(shape.activation),
        .gated = shape.gated,
        .rows = rows,
        .columns = shape.intermediate,
        .traffic = matrix(rows, shape.intermediate, type) * operands,
        .type = type};
}

Kernel embedding_kernel(std::int64_t rows, std::int64_t columns, DType type, DType gradient, bool backward) {
    const Bytes rows_of_table = matrix(rows, columns, backward ? gradient : type) * (backward ? 2 : 1);
    return Pointwise{.kind = backward ? PointwiseKind::embedding_backward : PointwiseKind::embedding_forward,
                     .access = AccessClass::gather,
                     .rows = rows,
                     .columns = columns,
                     .traffic = matrix(rows, columns, type) + rows_of_table,
                     .type = type};
}

// Reads the logits twice (maximum and sum, then probabilities); training also writes the gradient in their
// place.
Kernel cross_entropy_kernel(std::int64_t rows, std::int64_t vocabulary, DType type, bool backward) {
    return Pointwise{.kind = backward ? PointwiseKind::cross_entropy : PointwiseKind::cross_entropy_forward,
                     .rows = rows,
                     .columns = vocabulary,
                     .traffic = matrix(rows, vocabulary, type) * (backward ? 3 : 1),
                     .type = type};
}

Kernel cast_kernel(std::int64_t elements, DType from, DType to) {
    return Pointwise{.kind = PointwiseKind::cast,
                     .rows = 1,
                     .columns = elements,
                     .traffic = bytes_of(elements, from) + bytes_of(elements, to),
                     .type = to};
}

Kernel elementwise_kernel(PointwiseKind kind, std::int64_t elements, int operands, DType type) {
    return Pointwise{.kind = kind,
                     .rows = 1,
                     .columns = elements,
                     .traffic = bytes_of(elements, type) * operands,
                     .type = type};
}

// Reads the gradient; reads and writes parameter, moments and the master copy (from which the parameter is
// then only written).
Kernel optimizer_kernel(OptimizerKind kind, std::int64_t count, DType parameter, DType gradient, DType state,
                        bool master) {
    Bytes traffic = bytes_of(count, gradient) + bytes_of(count, parameter) * (master ? 1 : 2) +
                    moment_bytes(count, kind, state) * 2 * moment_count(kind);
    if (master) traffic += bytes_of(count, DType::fp32) * 2;
    return OptimizerUpdate{.kind = kind,
                           .count = count,
                           .parameter = parameter,
                           .gradient = gradient,
                           .state = moment_type(kind, state),
                           .master = master,
                           .traffic = traffic};
}

}  // namespace wirewise
