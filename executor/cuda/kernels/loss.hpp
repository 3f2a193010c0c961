// Embedding lookup and cross-entropy: the two ends of the model, where tokens meet numbers.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

void embedding_forward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns,
                       const Array& table, const Array& x, cudaStream_t stream);
// Adds to the table's gradient, each token's rows in their order: the same sum every time, rounded once.
std::int64_t embedding_backward_scratch(std::int64_t rows);  // bytes
void embedding_backward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns, const Array& dx,
                        const Array& table_gradient, void* scratch, cudaStream_t stream);

// Adds scale x the sum of the rows' losses to `loss`; rows with a negative target count nothing. With
// `gradient`, the gradient of the scaled loss takes the logits' place.
std::int64_t cross_entropy_scratch(std::int64_t rows);  // floats
void cross_entropy(const Array& logits, const std::int32_t* targets, std::int64_t rows,
                   std::int64_t vocabulary, float scale, bool gradient, float* loss, float* scratch,
                   cudaStream_t stream);

}  // namespace wirewise::cuda
