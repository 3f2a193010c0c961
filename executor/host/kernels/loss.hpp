// Embedding lookup and cross-entropy: the two ends of the model, where tokens meet numbers.
#pragma once

#include <cstdint>

namespace wirewise::host {

void embedding_forward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns,
                       const float* table, float* x);
// Adds to the table's gradient.
void embedding_backward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns, const float* dx,
                        float* table_gradient);

// Adds scale x the sum of the rows' losses to `loss`; rows with a negative target count nothing. With
// `gradient`, the gradient of the scaled loss takes the logits' place.
void cross_entropy(float* logits, const std::int32_t* targets, std::int64_t rows, std::int64_t vocabulary,
                   float scale, bool gradient, float* loss);

}  // namespace wirewise::host
