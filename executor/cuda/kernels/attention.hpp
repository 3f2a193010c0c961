// Causal grouped-query attention in plain CUDA: any head width up to 512, any dtype, sliding windows. Slow;
// where cuDNN has no kernel for a shape, and the check on those it has.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"
#include "model/program/kernel.hpp"

namespace wirewise::cuda {

// Rows of q and k in one matrix, of v in another; each row holds all heads side by side.
struct AttentionInputs {
    Array query, key, value;
    std::int64_t query_key_stride = 0, value_stride = 0;
};
struct AttentionGradients {
    Array query, key, value;
    std::int64_t stride = 0;
};

constexpr std::int64_t kWidestHead = 512;

// output [tokens, heads x value_head_dim]; log_sum_exp [batch, heads, sequence].
void attention_forward(const Attention& shape, const AttentionInputs& inputs, const Array& output,
                       float* log_sum_exp, cudaStream_t stream);
// delta: scratch [batch, heads, sequence].
void attention_backward(const Attention& shape, const AttentionInputs& inputs, const Array& output,
                        const float* log_sum_exp, const Array& output_gradient,
                        const AttentionGradients& gradients, float* delta, cudaStream_t stream);

}  // namespace wirewise::cuda
