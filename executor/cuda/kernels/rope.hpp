// Rotary position embedding as Hugging Face pairs dimensions: i with i + pairs.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

struct RopeShape {
    std::int64_t rows = 0, stride = 0;  // q | k stand in the first columns of each row
    std::int64_t heads = 0;             // of q and k together
    std::int64_t head_dim = 0, sequence = 0;
    std::int64_t pairs = 0;
};

// cosine, sine: [sequence, pairs]. In place; `backward` turns the other way.
void rope(const RopeShape& shape, const float* cosine, const float* sine, bool backward, const Array& values,
          cudaStream_t stream);

}  // namespace wirewise::cuda
