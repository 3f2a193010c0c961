// What every kernel uses: typed loads and stores, sums over a warp and a block, launch arithmetic.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "executor/cuda/check.hpp"
#include "executor/cuda/kernels/array.hpp"

namespace wirewise::cuda {

constexpr int kWarp = 32;
constexpr int kWide = 8;  // values that a thread loads at once where it can: 16 bytes of bf16

template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
    T values[N];
};

template <class T, int N>
__device__ __forceinline__ void load_as(const void* data, std::int64_t index, float (&to)[N]) {
    const auto pack = *reinterpret_cast<const Pack<T, N>*>(static_cast<const T*>(data) + index);
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = static_cast<float>(pack.values[i]);
}

template <class T, int N>
__device__ __forceinline__ void store_as(void* data, std::int64_t index, const float (&from)[N]) {
    Pack<T, N> pack;
#pragma unroll
    for (int i = 0; i < N; ++i) pack.values[i] = static_cast<T>(from[i]);
    *reinterpret_cast<Pack<T, N>*>(static_cast<T*>(data) + index) = pack;
}

// N values from `index` on; N > 1 needs Array::aligned_to(N) and an index that N divides.
template <int N>
__device__ __forceinline__ void load(const Array& from, std::int64_t index, float (&to)[N]) {
    if (from.type == DType::bf16)
        load_as<__nv_bfloat16>(from.data, index, to);
    else if (from.type == DType::fp16)
        load_as<__half>(from.data, index, to);
    else
        load_as<float>(from.data, index, to);
}

template <int N>
__device__ __forceinline__ void store(const Array& to, std::int64_t index, const float (&from)[N]) {
    if (to.type == DType::bf16)
        store_as<__nv_bfloat16>(to.data, index, from);
    else if (to.type == DType::fp16)
        store_as<__half>(to.data, index, from);
    else
        store_as<float>(to.data, index, from);
}

__device__ __forceinline__ float load(const Array& from, std::int64_t index) {
    float value[1];
    load(from, index, value);
    return value[0];
}
__device__ __forceinline__ void store(const Array& to, std::int64_t index, float value) {
    const float values[1] = {value};
    store(to, index, values);
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, step);
    return value;
}
__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, step));
    return value;
}

// Sums of two values over the block, known to all its threads. Called by all of them.
__device__ __forceinline__ float2 block_sum(float2 value) {
    __shared__ float2 parts[kWarp];
    value = {warp_sum(value.x), warp_sum(value.y)};
    const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    __syncthreads();  // the last sum has been read
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    float2 sum = lane < blockDim.x / kWarp ? parts[lane] : float2{0, 0};
    return {warp_sum(sum.x), warp_sum(sum.y)};
}
__device__ __forceinline__ float block_sum(float value) { return block_sum(float2{value, 0}).x; }

inline unsigned blocks_for(std::int64_t work, std::int64_t each, std::int64_t most = 1 << 30) {
    return static_cast<unsigned>(std::clamp<std::int64_t>((work + each - 1) / each, 1, most));
}

inline void launched(const char* kernel) { check(cudaGetLastError(), kernel); }

inline int multiprocessors() {
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    return count;
}

}  // namespace wirewise::cuda
