// Kernels that treat every element alike. Indices and counts in elements.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

// b = a, rounded to b's dtype.
void cast(const Array& a, const Array& b, std::int64_t count, cudaStream_t stream);
// b += a.
void accumulate(const Array& a, const Array& b, std::int64_t count, cudaStream_t stream);
// c = a + b.
void add(const Array& a, const Array& b, const Array& c, std::int64_t count, cudaStream_t stream);
// a *= the value at `factor`.
void scale(const Array& a, const float* factor, std::int64_t count, cudaStream_t stream);
void fill_zero(const Array& a, std::int64_t count, cudaStream_t stream);

// x [count] += table [period], over and over.
void position_add(const Array& x, const Array& table, std::int64_t count, std::int64_t period,
                  cudaStream_t stream);
// Its gradient, added to the table's.
void position_backward(const Array& dx, const Array& table_gradient, std::int64_t count, std::int64_t period,
                       cudaStream_t stream);

// Normal values of `deviation`, drawn as executor/training/seeded_weights draws them: element i of the array
// is element first + i of the stream.
void fill_normal(const Array& a, std::int64_t count, double deviation, std::uint64_t random_stream,
                 std::int64_t first, cudaStream_t stream);
void fill_constant(const Array& a, std::int64_t count, float value, cudaStream_t stream);

}  // namespace wirewise::cuda
