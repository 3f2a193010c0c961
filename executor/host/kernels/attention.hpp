// Causal grouped-query attention, block of queries by block of queries: scores of one block exist at a time.
#pragma once

#include "model/program/kernel.hpp"

namespace wirewise::host {

// Rows of q and k in one matrix, of v in another; each row holds all heads side by side.
struct AttentionInputs {
    const float *query = nullptr, *key = nullptr, *value = nullptr;
    std::int64_t query_key_stride = 0, value_stride = 0;
};
struct AttentionGradients {
    float *query = nullptr, *key = nullptr, *value = nullptr;
    std::int64_t stride = 0;
};

// Floats that either direction needs as scratch.
std::int64_t attention_scratch(const Attention& shape);

// output [tokens, heads x value_head_dim]; log_sum_exp [tokens, heads].
void attention_forward(const Attention& shape, const AttentionInputs& inputs, float* output,
                       float* log_sum_exp, float* scratch);
void attention_backward(const Attention& shape, const AttentionInputs& inputs, const float* output,
                        const float* log_sum_exp, const float* output_gradient,
                        const AttentionGradients& gradients, float* scratch);

}  // namespace wirewise::host
