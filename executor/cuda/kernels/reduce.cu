#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/reduce.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kParts = kThreads / kWarp;
constexpr unsigned kNormBlocks = 1024;

// A warp's lanes take neighbouring columns, its block's warps every kParts-th part.
__global__ void __launch_bounds__(kThreads) sum_partials_kernel(const float* partials, std::int64_t parts,
                                                                std::int64_t columns, Array to, bool adds) {
    __shared__ float sums[kParts][kWarp];
    const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kWarp + lane;
    float sum = 0;
    if (column < columns)
        for (std::int64_t part = warp; part < parts; part += kParts) sum += partials[part * columns + column];
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp != 0 || column >= columns) return;
    float total = adds ? load(to, column) : 0.0F;
    for (int part = 0; part < kParts; ++part) total += sums[part][lane];
    store(to, column, total);
}

__global__ void __launch_bounds__(kThreads)
    column_partials(Array a, std::int64_t rows, std::int64_t columns, float* partials) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (column >= columns) return;
    float sum = 0;
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) sum += load(a, row * columns + column);
    partials[blockIdx.y * columns + column] = sum;
}

unsigned column_parts(std::int64_t rows) { return blocks_for(rows, 32, 128); }

// The sum of a double over the block, in thread 0.
__device__ double block_total(double value) {
    __shared__ double sums[kThreads];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (unsigned width = kThreads / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
        __syncthreads();
    }
    return sums[0];
}

template <int N>
__global__ void __launch_bounds__(kThreads) squares(Array a, std::int64_t count, double* partials) {
    const std::int64_t groups = count / N, stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    double sum = 0;
    for (std::int64_t g = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; g < groups;
         g += stride) {
        float x[N], part = 0;
        load(a, g * N, x);
        for (int i = 0; i < N; ++i) part += x[i] * x[i];
        sum += static_cast<double>(part);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)  // what N leaves over
        for (std::int64_t i = groups * N; i < count; ++i) sum += static_cast<double>(load(a, i)) * load(a, i);
    sum = block_total(sum);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kThreads) add_squares(const double* partials, unsigned parts, float* to) {
    double sum = 0;
    for (unsigned part = threadIdx.x; part < parts; part += kThreads) sum += partials[part];
    sum = block_total(sum);
    if (threadIdx.x == 0) *to += static_cast<float>(sum);
}

__global__ void clip_factor_kernel(const float* squared_norm, double max_norm, float* factor) {
    *factor = static_cast<float>(fmin(1.0, max_norm / (sqrt(static_cast<double>(*squared_norm)) + 1e-6)));
}

}  // namespace

void sum_partials(const float* partials, std::int64_t parts, std::int64_t columns, const Array& to, bool adds,
                  cudaStream_t stream) {
    sum_partials_kernel<<<blocks_for(columns, kWarp), kThreads, 0, stream>>>(partials, parts, columns, to,
                                                                             adds);
    launched("sum_partials");
}

std::int64_t column_sum_scratch(std::int64_t rows, std::int64_t columns) {
    return column_parts(rows) * columns;
}

void column_sum(const Array& a, std::int64_t rows, std::int64_t columns, const Array& to, bool adds,
                float* scratch, cudaStream_t stream) {
    const unsigned parts = column_parts(rows);
    const dim3 grid(blocks_for(columns, kThreads), parts);
    column_partials<<<grid, kThreads, 0, stream>>>(a, rows, columns, scratch);
    launched("column_partials");
    sum_partials(scratch, parts, columns, to, adds, stream);
}

std::int64_t squared_norm_scratch() { return static_cast<std::int64_t>(kNormBlocks * sizeof(double)); }

void squared_norm(const Array& a, std::int64_t count, float* to, void* scratch, cudaStream_t stream) {
    auto* const partials = static_cast<double*>(scratch);
    const unsigned blocks = blocks_for(count, kThreads * kWide, kNormBlocks);
    if (a.aligned_to(kWide))
        squares<kWide><<<blocks, kThreads, 0, stream>>>(a, count, partials);
    else
        squares<1><<<blocks, kThreads, 0, stream>>>(a, count, partials);
    launched("squares");
    add_squares<<<1, kThreads, 0, stream>>>(partials, blocks, to);
    launched("add_squares");
}

void clip_factor(const float* squared_norm, double max_norm, float* factor, cudaStream_t stream) {
    clip_factor_kernel<<<1, 1, 0, stream>>>(squared_norm, max_norm, factor);
    launched("clip_factor");
}

}  // namespace wirewise::cuda
