#include <cmath>

#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/loss.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kLossThreads = 512;

template <int N>
__global__ void __launch_bounds__(kThreads)
    lookup_kernel(const std::int32_t* tokens, std::int64_t columns, Array table, Array x) {
    const std::int64_t row = blockIdx.x, token = tokens[row];
    for (std::int64_t c = threadIdx.x * N; c < columns; c += N * kThreads) {
        float values[N];
        load(table, token * columns + c, values);
        store(x, row * columns + c, values);
    }
}

// The highest value seen and the sum of exp(value - highest).
struct Softmax {
    float highest = -INFINITY, sum = 0;
};
__device__ Softmax joined(Softmax a, Softmax b) {
    const float highest = fmaxf(a.highest, b.highest);
    if (highest == -INFINITY) return {};
    return {highest, a.sum * expf(a.highest - highest) + b.sum * expf(b.highest - highest)};
}

__device__ Softmax warp_joined(Softmax value) {
    for (int step = kWarp / 2; step > 0; step /= 2)
        value = joined(value, {__shfl_xor_sync(0xFFFFFFFF, value.highest, step),
                               __shfl_xor_sync(0xFFFFFFFF, value.sum, step)});
    return value;
}

__device__ Softmax block_joined(Softmax value) {
    __shared__ Softmax parts[kWarp];
    const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    value = warp_joined(value);
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    return warp_joined(lane < kLossThreads / kWarp ? parts[lane] : Softmax{});
}

template <int N>
__device__ Softmax row_softmax(const Array& logits, std::int64_t first, std::int64_t vocabulary) {
    Softmax own;
    for (std::int64_t c = threadIdx.x * N; c < vocabulary; c += N * kLossThreads) {
        float x[N];
        load(logits, first + c, x);
        float highest = own.highest, sum = 0;
        for (int i = 0; i < N; ++i) highest = fmaxf(highest, x[i]);
        for (int i = 0; i < N; ++i) sum += expf(x[i] - highest);
        own = {highest, (own.sum > 0 ? own.sum * expf(own.highest - highest) : 0.0F) + sum};
    }
    return block_joined(own);
}

template <int N>
__global__ void __launch_bounds__(kLossThreads)
    cross_entropy_kernel(Array logits, const std::int32_t* targets, std::int64_t vocabulary, float scale,
                         bool gradient, float* row_losses) {
    const std::int64_t row = blockIdx.x, first = row * vocabulary;
    const std::int32_t target = targets[row];
    if (target < 0) {
        if (threadIdx.x == 0) row_losses[row] = 0;
        const float zeros[N] = {};
        if (gradient)
            for (std::int64_t c = threadIdx.x * N; c < vocabulary; c += N * kLossThreads)
                store(logits, first + c, zeros);
        return;
    }
    const Softmax all = row_softmax<N>(logits, first, vocabulary);
    if (threadIdx.x == 0) row_losses[row] = all.highest + logf(all.sum) - load(logits, first + target);
    if (!gradient) return;
    __syncthreads();  // the target's logit has been read
    const float share = scale / all.sum;
    for (std::int64_t c = threadIdx.x * N; c < vocabulary; c += N * kLossThreads) {
        float x[N];
        load(logits, first + c, x);
        for (int i = 0; i < N; ++i)
            x[i] = expf(x[i] - all.highest) * share - (c + i == target ? scale : 0.0F);
        store(logits, first + c, x);
    }
}

__global__ void __launch_bounds__(kThreads)
    add_losses(const float* row_losses, std::int64_t rows, float scale, float* loss) {
    __shared__ double sums[kThreads];
    double sum = 0;
    for (std::int64_t r = threadIdx.x; r < rows; r += kThreads) sum += static_cast<double>(row_losses[r]);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < kThreads; ++i) sum += sums[i];
    *loss += static_cast<float>(sum * static_cast<double>(scale));
}

}  // namespace

void embedding_forward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns,
                       const Array& table, const Array& x, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(rows);
    if (columns % kWide == 0 && table.aligned_to(kWide) && x.aligned_to(kWide))
        lookup_kernel<kWide><<<blocks, kThreads, 0, stream>>>(tokens, columns, table, x);
    else
        lookup_kernel<1><<<blocks, kThreads, 0, stream>>>(tokens, columns, table, x);
    launched("embedding_forward");
}

std::int64_t cross_entropy_scratch(std::int64_t rows) { return rows; }

void cross_entropy(const Array& logits, const std::int32_t* targets, std::int64_t rows,
                   std::int64_t vocabulary, float scale, bool gradient, float* loss, float* scratch,
                   cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(rows);
    if (vocabulary % kWide == 0 && logits.aligned_to(kWide))
        cross_entropy_kernel<kWide>
            <<<blocks, kLossThreads, 0, stream>>>(logits, targets, vocabulary, scale, gradient, scratch);
    else
        cross_entropy_kernel<1>
            <<<blocks, kLossThreads, 0, stream>>>(logits, targets, vocabulary, scale, gradient, scratch);
    launched("cross_entropy");
    add_losses<<<1, kThreads, 0, stream>>>(scratch, rows, scale, loss);
    launched("add_losses");
}

}  // namespace wirewise::cuda
