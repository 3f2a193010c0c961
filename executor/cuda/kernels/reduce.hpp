// Sums over many values, always in the same order: first over a fixed share of each block, then over the
// blocks. Every function names the scratch that its first half needs.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

// to[c] (+)= the sum over parts of partials[part, c].
void sum_partials(const float* partials, std::int64_t parts, std::int64_t columns, const Array& to, bool adds,
                  cudaStream_t stream);

// to[c] (+)= the sum over rows of a[r, c]: the gradient of a bias.
std::int64_t column_sum_scratch(std::int64_t rows, std::int64_t columns);  // floats
void column_sum(const Array& a, std::int64_t rows, std::int64_t columns, const Array& to, bool adds,
                float* scratch, cudaStream_t stream);

// *to += the sum of squares.
std::int64_t squared_norm_scratch();  // bytes
void squared_norm(const Array& a, std::int64_t count, float* to, void* scratch, cudaStream_t stream);

// max_norm / (norm + 1e-6), at most 1: torch.nn.utils.clip_grad_norm_'s rule.
void clip_factor(const float* squared_norm, double max_norm, float* factor, cudaStream_t stream);

}  // namespace wirewise::cuda
