// RMSNorm and LayerNorm of rows, and RMSNorm of each head of q and k. Statistics per row: rstd of all rows,
// then, for LayerNorm, the mean of all rows.
#pragma once

#include <cstdint>

namespace wirewise::host {

struct NormShape {
    std::int64_t rows = 0, columns = 0;
    bool layer = false;  // LayerNorm
    float epsilon = 0;
};

// weight and bias may be null.
void norm_forward(const NormShape& shape, const float* x, const float* weight, const float* bias, float* y,
                  float* statistics);
void norm_recompute(const NormShape& shape, const float* x, const float* weight, const float* bias,
                    const float* statistics, float* y);
// dx and the gradients of weight and bias are added to.
void norm_backward(const NormShape& shape, const float* dy, const float* x, const float* weight,
                   const float* statistics, float* dx, float* weight_gradient, float* bias_gradient);

struct HeadNormShape {
    std::int64_t rows = 0, heads = 0, kv_heads = 0, head_dim = 0;
    float epsilon = 0;
};

// x's rows have `x_stride` columns, of which the first are q | k; y's are q | k alone. weight: q's, then k's.
// statistics: rstd [rows, heads + kv_heads].
void head_norm_forward(const HeadNormShape& shape, const float* x, std::int64_t x_stride, const float* weight,
                       float* y, std::int64_t y_stride, float* statistics);
// In place on the gradient's q | k; the weight gradient is added to.
void head_norm_backward(const HeadNormShape& shape, float* gradient, std::int64_t gradient_stride,
                        const float* x, std::int64_t x_stride, const float* weight, const float* statistics,
                        float* weight_gradient);

}  // namespace wirewise::host
