// A matrix product in plain CUDA, fp32 sums, any mixture of dtypes: where cuBLASLt has none, and the check on
// it.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

// An operand by element strides: value (i, j) lies at i * row + j * column.
struct Strides {
    std::int64_t row = 0, column = 0;
};

// c[m, n], row-major, (+)= a[m, k] b[k, n] (+ bias[n]) (+ addend[m, n]).
struct PlainGemm {
    std::int64_t m = 0, n = 0, k = 0;
    Array a, b, c, bias, addend;
    Strides a_strides, b_strides;
    bool accumulate = false;
};
void plain_gemm(const PlainGemm& gemm, cudaStream_t stream);

}  // namespace wirewise::cuda
