// The kernels of our runtime with the bytes each moves: every fused kernel reads its inputs once and writes
// its outputs once, except where a comment says otherwise.
#pragma once

#include "model/program/kernel.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

struct LinearShape {
    std::int64_t inputs = 0, outputs = 0;
    std::int64_t groups = 1;  // routed experts: so many weights of this shape
};

Kernel linear_forward_kernel(std::int64_t rows, LinearShape shape, DType type, bool bias, bool addend);
Kernel data_gradient_kernel(std::int64_t rows, LinearShape shape, DType type, bool accumulate);
Kernel weight_gradient_kernel(std::int64_t rows, LinearShape shape, DType type, DType result, bool bias,
                              bool accumulate);
Kernel attention_kernel(const AttentionShape& shape, std::int64_t batch, std::int64_t sequence, DType type,
                        bool backward);
Kernel norm_kernel(PointwiseKind kind, std::int64_t rows, std::int64_t columns, DType type,
                   bool accumulate = false);
Kernel rope_kernel(const AttentionShape& shape, std::int64_t rows, DType type, bool backward);
Kernel head_norm_kernel(const AttentionShape& shape, std::int64_t rows, DType type, bool backward,
                        bool accumulate);
Kernel activation_kernel(const MlpShape& shape, std::int64_t rows, DType type, bool backward);
Kernel embedding_kernel(std::int64_t rows, std::int64_t columns, DType type, DType gradient, bool backward);
Kernel cross_entropy_kernel(std::int64_t rows, std::int64_t vocabulary, DType type, bool backward);
// A contiguous kernel that reads and writes `elements` values of these types.
Kernel cast_kernel(std::int64_t elements, DType from, DType to);
// `operands` arrays of this type pass through memory.
Kernel elementwise_kernel(PointwiseKind kind, std::int64_t elements, int operands, DType type);
Kernel optimizer_kernel(OptimizerKind kind, std::int64_t count, DType parameter, DType gradient, DType state,
                        bool master);

}  // namespace wirewise
