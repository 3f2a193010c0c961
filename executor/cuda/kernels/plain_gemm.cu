#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/plain_gemm.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile* kTile) plain_gemm_kernel(PlainGemm g) {
    __shared__ float a[kTile][kTile + 1], b[kTile][kTile + 1];
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * kTile + threadIdx.y;
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
    float sum = 0;
    for (std::int64_t first = 0; first < g.k; first += kTile) {
        const std::int64_t across = first + threadIdx.x, down = first + threadIdx.y;
        a[threadIdx.y][threadIdx.x] =
            row < g.m && across < g.k ? load(g.a, row * g.a_strides.row + across * g.a_strides.column) : 0.0F;
        b[threadIdx.y][threadIdx.x] = down < g.k && column < g.n
                                          ? load(g.b, down * g.b_strides.row + column * g.b_strides.column)
                                          : 0.0F;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row >= g.m || column >= g.n) return;
    const std::int64_t at = row * g.n + column;
    if (g.accumulate) sum += load(g.c, at);
    if (g.bias.data) sum += load(g.bias, column);
    if (g.addend.data) sum += load(g.addend, at);
    store(g.c, at, sum);
}

}  // namespace

void plain_gemm(const PlainGemm& gemm, cudaStream_t stream) {
    const dim3 threads(kTile, kTile);
    for (std::int64_t first = 0; first < gemm.m; first += kTile * 65535LL) {  // the grid's limit
        PlainGemm part = gemm;
        const auto shifted = [first](Array array, std::int64_t row) {
            if (array) array.data = static_cast<char*>(array.data) + first * row * size_of(array.type);
            return array;
        };
        part.m = std::min<std::int64_t>(gemm.m - first, kTile * 65535LL);
        part.a = shifted(gemm.a, gemm.a_strides.row);
        part.c = shifted(gemm.c, gemm.n);
        part.addend = shifted(gemm.addend, gemm.n);
        const dim3 grid(blocks_for(part.n, kTile), blocks_for(part.m, kTile));
        plain_gemm_kernel<<<grid, threads, 0, stream>>>(part);
        launched("plain_gemm");
    }
}

}  // namespace wirewise::cuda
