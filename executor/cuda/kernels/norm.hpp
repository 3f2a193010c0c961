// RMSNorm and LayerNorm of rows, and RMSNorm of each head of q and k; the counterparts of
// executor/host/kernels/norm.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

struct NormShape {
    std::int64_t rows = 0, columns = 0;
    bool layer = false;  // LayerNorm
    float epsilon = 0;
};

// weight and bias may be absent. Statistics: rstd of all rows, then, for LayerNorm, the mean of all rows.
void norm_forward(const NormShape& shape, const Array& x, const Array& weight, const Array& bias,
                  const Array& y, float* statistics, cudaStream_t stream);
void norm_recompute(const NormShape& shape, const Array& x, const Array& weight, const Array& bias,
                    const float* statistics, const Array& y, cudaStream_t stream);

// What a gradient kernel writes: over what is there, or added to it.
struct Sum {
    Array array;
    bool adds = false;
};
std::int64_t norm_backward_scratch(const NormShape& shape);  // floats
void norm_backward(const NormShape& shape, const Array& dy, const Array& x, const Array& weight,
                   const float* statistics, const Sum& dx, const Sum& weight_gradient,
                   const Sum& bias_gradient, float* scratch, cudaStream_t stream);

struct HeadNormShape {
    std::int64_t rows = 0, heads = 0, kv_heads = 0, head_dim = 0;
    float epsilon = 0;
};

// x's rows have `x_stride` columns, of which the first are q | k; y's are q | k alone. weight: q's, then k's.
// statistics: rstd [rows, heads + kv_heads].
void head_norm_forward(const HeadNormShape& shape, const Array& x, std::int64_t x_stride, const Array& weight,
                       const Array& y, std::int64_t y_stride, float* statistics, cudaStream_t stream);
// In place on the gradient's q | k.
std::int64_t head_norm_backward_scratch(const HeadNormShape& shape);  // floats
void head_norm_backward(const HeadNormShape& shape, const Array& gradient, std::int64_t gradient_stride,
                        const Array& x, std::int64_t x_stride, const Array& weight, const float* statistics,
                        const Sum& weight_gradient, float* scratch, cudaStream_t stream);

}  // namespace wirewise::cuda
