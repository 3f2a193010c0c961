#include <math_constants.h>

#include <cmath>

#include "executor/cuda/kernels/attention.hpp"
#include "executor/cuda/kernels/device.cuh"
#include "model/units/error.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kWarps = 4, kThreads = kWarps * kWarp;

struct Problem {
    Attention shape;
    AttentionInputs in;
    Array output, output_gradient;
    float* log_sum_exp;
    float* delta;
    AttentionGradients gradients;
    float scale;

    __device__ std::int64_t token(std::int64_t batch, std::int64_t position) const {
        return batch * shape.sequence + position;
    }
    __device__ std::int64_t query_at(std::int64_t token, std::int64_t head) const {
        return token * in.query_key_stride + head * shape.head_dim;
    }
    __device__ std::int64_t value_at(std::int64_t token, std::int64_t head) const {
        return token * in.value_stride + head * shape.value_head_dim;
    }
    __device__ std::int64_t output_at(std::int64_t token, std::int64_t head) const {
        return (token * shape.heads + head) * shape.value_head_dim;
    }
    __device__ std::int64_t statistic_at(std::int64_t batch, std::int64_t head, std::int64_t position) const {
        return (batch * shape.heads + head) * shape.sequence + position;
    }
    __device__ std::int64_t first_key(std::int64_t query) const {
        return shape.window > 0 && query >= shape.window ? query - shape.window + 1 : 0;
    }
    __device__ std::int64_t last_query(std::int64_t key) const {
        return shape.window > 0 && key + shape.window < shape.sequence ? key + shape.window - 1
                                                                       : shape.sequence - 1;
    }
};

// A vector of a head, dealt out to the lanes of a warp.
template <int Each>
struct Dealt {
    float values[Each];
    __device__ void clear() {
        for (int i = 0; i < Each; ++i) values[i] = 0;
    }
    __device__ void load_from(const Array& from, std::int64_t first, std::int64_t width) {
        for (int i = 0; i < Each; ++i) {
            const std::int64_t c = threadIdx.x % kWarp + i * kWarp;
            values[i] = c < width ? load(from, first + c) : 0.0F;
        }
    }
    __device__ void add(float factor, const Dealt& other) {
        for (int i = 0; i < Each; ++i) values[i] += factor * other.values[i];
    }
    __device__ float dot(const Dealt& other) const {
        float sum = 0;
        for (int i = 0; i < Each; ++i) sum += values[i] * other.values[i];
        return warp_sum(sum);
    }
    __device__ void store_to(const Array& to, std::int64_t first, std::int64_t width) const {
        for (int i = 0; i < Each; ++i) {
            const std::int64_t c = threadIdx.x % kWarp + i * kWarp;
            if (c < width) store(to, first + c, values[i]);
        }
    }
};

// The warps' vectors summed, each times its warp's factor; the sum is the first warp's.
template <int Each>
__device__ Dealt<Each> summed(const Dealt<Each>& own, const float* factors) {
    __shared__ float parts[kWarps][Each * kWarp];
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    __syncthreads();  // the sum before this one has been read
    for (int i = 0; i < Each; ++i) parts[warp][i * kWarp + lane] = own.values[i];
    __syncthreads();
    Dealt<Each> sum;
    sum.clear();
    for (int other = 0; other < kWarps; ++other)
        for (int i = 0; i < Each; ++i)
            sum.values[i] += (factors ? factors[other] : 1.0F) * parts[other][i * kWarp + lane];
    return sum;
}

// One block per query and head; its warps take keys in turn, each with a softmax of its own that the end
// joins.
template <int Each>
__global__ void __launch_bounds__(kThreads) forward_kernel(Problem p) {
    __shared__ float highests[kWarps], sums[kWarps], factors[kWarps];
    const std::int64_t query = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
    const std::int64_t kv = head * p.shape.kv_heads / p.shape.heads, token = p.token(batch, query);
    const int warp = threadIdx.x / kWarp;
    Dealt<Each> q, k, v, out;
    q.load_from(p.in.query, p.query_at(token, head), p.shape.head_dim);
    out.clear();
    float highest = -CUDART_INF_F, sum = 0;
    for (std::int64_t j = p.first_key(query) + warp; j <= query; j += kWarps) {
        k.load_from(p.in.key, p.query_at(p.token(batch, j), kv), p.shape.head_dim);
        v.load_from(p.in.value, p.value_at(p.token(batch, j), kv), p.shape.value_head_dim);
        const float score = q.dot(k) * p.scale, above = fmaxf(highest, score);
        const float kept = expf(highest - above), weight = expf(score - above);
        for (int i = 0; i < Each; ++i) out.values[i] = out.values[i] * kept + weight * v.values[i];
        sum = sum * kept + weight;
        highest = above;
    }
    highests[warp] = highest;
    sums[warp] = sum;
    __syncthreads();
    float most = -CUDART_INF_F, total = 0;
    for (int other = 0; other < kWarps; ++other) most = fmaxf(most, highests[other]);
    for (int other = 0; other < kWarps; ++other) total += sums[other] * expf(highests[other] - most);
    if (threadIdx.x < kWarps) factors[threadIdx.x] = expf(highests[threadIdx.x] - most) / total;
    out = summed(out, factors);  // synchronizes before it reads the factors
    if (warp != 0) return;
    out.store_to(p.output, p.output_at(token, head), p.shape.value_head_dim);
    if (threadIdx.x == 0) p.log_sum_exp[p.statistic_at(batch, head, query)] = most + logf(total);
}

// One block per query and head: delta, then the query's gradient.
template <int Each>
__global__ void __launch_bounds__(kThreads) query_gradient_kernel(Problem p) {
    const std::int64_t query = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
    const std::int64_t kv = head * p.shape.kv_heads / p.shape.heads, token = p.token(batch, query);
    Dealt<Each> q, out, dout, k, v, dq;
    q.load_from(p.in.query, p.query_at(token, head), p.shape.head_dim);
    out.load_from(p.output, p.output_at(token, head), p.shape.value_head_dim);
    dout.load_from(p.output_gradient, p.output_at(token, head), p.shape.value_head_dim);
    const float delta = dout.dot(out), lse = p.log_sum_exp[p.statistic_at(batch, head, query)];
    if (threadIdx.x == 0) p.delta[p.statistic_at(batch, head, query)] = delta;
    dq.clear();
    for (std::int64_t j = p.first_key(query) + threadIdx.x / kWarp; j <= query; j += kWarps) {
        k.load_from(p.in.key, p.query_at(p.token(batch, j), kv), p.shape.head_dim);
        v.load_from(p.in.value, p.value_at(p.token(batch, j), kv), p.shape.value_head_dim);
        const float weight = expf(q.dot(k) * p.scale - lse);
        dq.add(p.scale * weight * (dout.dot(v) - delta), k);
    }
    dq = summed(dq, nullptr);
    if (threadIdx.x < kWarp)
        dq.store_to(p.gradients.query, token * p.gradients.stride + head * p.shape.head_dim,
                    p.shape.head_dim);
}

// One block per key and key head: the gradients of key and value over the group's heads and the queries that
// see it.
template <int Each>
__global__ void __launch_bounds__(kThreads) key_gradient_kernel(Problem p) {
    const std::int64_t key = blockIdx.x, kv = blockIdx.y, batch = blockIdx.z, token = p.token(batch, key);
    const std::int64_t group = p.shape.heads / p.shape.kv_heads;
    Dealt<Each> q, dout, k, v, dk, dv;
    k.load_from(p.in.key, p.query_at(token, kv), p.shape.head_dim);
    v.load_from(p.in.value, p.value_at(token, kv), p.shape.value_head_dim);
    dk.clear();
    dv.clear();
    for (std::int64_t head = kv * group; head < (kv + 1) * group; ++head)
        for (std::int64_t i = key + threadIdx.x / kWarp; i <= p.last_query(key); i += kWarps) {
            const std::int64_t row = p.token(batch, i), statistic = p.statistic_at(batch, head, i);
            q.load_from(p.in.query, p.query_at(row, head), p.shape.head_dim);
            dout.load_from(p.output_gradient, p.output_at(row, head), p.shape.value_head_dim);
            const float weight = expf(q.dot(k) * p.scale - p.log_sum_exp[statistic]);
            dv.add(weight, dout);
            dk.add(p.scale * weight * (dout.dot(v) - p.delta[statistic]), q);
        }
    dk = summed(dk, nullptr);
    dv = summed(dv, nullptr);
    if (threadIdx.x >= kWarp) return;
    dk.store_to(p.gradients.key, token * p.gradients.stride + kv * p.shape.head_dim, p.shape.head_dim);
    dv.store_to(p.gradients.value, token * p.gradients.stride + kv * p.shape.value_head_dim,
                p.shape.value_head_dim);
}

Problem problem_of(const Attention& shape, const AttentionInputs& inputs) {
    ensure(shape.head_dim <= kWidestHead && shape.value_head_dim <= kWidestHead,
           "a head's width is computed");
    ensure(shape.heads % shape.kv_heads == 0, "query heads share key heads evenly");
    Problem problem{.shape = shape, .in = inputs};
    problem.scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
    return problem;
}

dim3 grid_of(const Attention& shape, std::int64_t heads) {
    return {static_cast<unsigned>(shape.sequence), static_cast<unsigned>(heads),
            static_cast<unsigned>(shape.batch)};
}

bool narrow(const Attention& shape) { return std::max(shape.head_dim, shape.value_head_dim) <= 4 * kWarp; }

}  // namespace

void attention_forward(const Attention& shape, const AttentionInputs& inputs, const Array& output,
                       float* log_sum_exp, cudaStream_t stream) {
    Problem problem = problem_of(shape, inputs);
    problem.output = output;
    problem.log_sum_exp = log_sum_exp;
    if (narrow(shape))
        forward_kernel<4><<<grid_of(shape, shape.heads), kThreads, 0, stream>>>(problem);
    else
        forward_kernel<16><<<grid_of(shape, shape.heads), kThreads, 0, stream>>>(problem);
    launched("attention_forward");
}

void attention_backward(const Attention& shape, const AttentionInputs& inputs, const Array& output,
                        const float* log_sum_exp, const Array& output_gradient,
                        const AttentionGradients& gradients, float* delta, cudaStream_t stream) {
    Problem problem = problem_of(shape, inputs);
    problem.output = output;
    problem.output_gradient = output_gradient;
    problem.log_sum_exp = const_cast<float*>(log_sum_exp);
    problem.gradients = gradients;
    problem.delta = delta;
    const dim3 queries = grid_of(shape, shape.heads), keys = grid_of(shape, shape.kv_heads);
    if (narrow(shape)) {
        query_gradient_kernel<4><<<queries, kThreads, 0, stream>>>(problem);
        launched("attention_backward, queries");
        key_gradient_kernel<4><<<keys, kThreads, 0, stream>>>(problem);
    } else {
        query_gradient_kernel<16><<<queries, kThreads, 0, stream>>>(problem);
        launched("attention_backward, queries");
        key_gradient_kernel<16><<<keys, kThreads, 0, stream>>>(problem);
    }
    launched("attention_backward, keys");
}

}  // namespace wirewise::cuda
