// Matrix products on fp32 values (Eigen). Shapes and layouts as in model/program/kernel.hpp.
#pragma once

#include "model/program/kernel.hpp"

namespace wirewise::host {

// `bias` and `addend` may be null.
void gemm_forward(const Gemm& gemm, const float* x, const float* weight, const float* bias,
                  const float* addend, float* y);
void gemm_data_gradient(const Gemm& gemm, const float* dy, const float* weight, float* dx);
// `bias_gradient` may be null.
void gemm_weight_gradient(const Gemm& gemm, const float* dy, const float* x, float* weight_gradient,
                          float* bias_gradient);

// Fixed cache sizes make the order of sums, and so the results, the same on every machine. Call once per
// process before the first product.
void fix_gemm_blocking();

}  // namespace wirewise::host
