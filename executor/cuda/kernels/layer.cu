// The pointwise kernels inside a layer: activation and rotary embedding. One block per row.
#include "executor/cuda/kernels/activation.hpp"
#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/rope.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;

struct ValueAndSlope {
    float value, slope;
};

__device__ ValueAndSlope silu(float x) {
    const float sigmoid = 1.0F / (1.0F + expf(-x));
    return {x * sigmoid, sigmoid * (1.0F + x * (1.0F - sigmoid))};
}

__device__ ValueAndSlope gelu(float x) {
    constexpr float kRootHalf = 0.70710678118654752F, kInverseRootTwoPi = 0.39894228040143268F;
    const float cumulative = 0.5F * (1.0F + erff(x * kRootHalf));
    return {x * cumulative, cumulative + x * expf(-0.5F * x * x) * kInverseRootTwoPi};
}

// Hendrycks and Gimpel, Gaussian error linear units (2016): the tanh form.
__device__ ValueAndSlope gelu_tanh(float x) {
    constexpr float kFactor = 0.79788456080286536F;  // sqrt(2 / pi)
    const float t = tanhf(kFactor * (x + 0.044715F * x * x * x));
    const float inner_slope = kFactor * (1.0F + 3 * 0.044715F * x * x);
    return {0.5F * x * (1.0F + t), 0.5F * (1.0F + t) + 0.5F * x * (1.0F - t * t) * inner_slope};
}

__device__ ValueAndSlope activate(ActivationKind kind, float x) {
    switch (kind) {
        case ActivationKind::silu:
            return silu(x);
        case ActivationKind::gelu:
            return gelu(x);
        case ActivationKind::gelu_tanh:
            return gelu_tanh(x);
        case ActivationKind::relu:
            return x > 0 ? ValueAndSlope{x, 1} : ValueAndSlope{0, 0};
        case ActivationKind::relu_squared:
            return x > 0 ? ValueAndSlope{x * x, 2 * x} : ValueAndSlope{0, 0};
    }
    return {0, 0};
}

template <int N>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(ActivationShape shape, Array expanded, Array product) {
    const std::int64_t n = shape.columns, row = blockIdx.x, from = row * (shape.gated ? 2 * n : n),
                       to = row * n;
    for (std::int64_t c = threadIdx.x * N; c < n; c += N * kThreads) {
        float gate[N], up[N];
        load(expanded, from + c, gate);
        if (shape.gated) load(expanded, from + n + c, up);
        for (int i = 0; i < N; ++i)
            gate[i] = activate(shape.kind, gate[i]).value * (shape.gated ? up[i] : 1.0F);
        store(product, to + c, gate);
    }
}

template <int N>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(ActivationShape shape, Array dproduct, Array expanded) {
    const std::int64_t n = shape.columns, row = blockIdx.x, at = row * (shape.gated ? 2 * n : n),
                       from = row * n;
    for (std::int64_t c = threadIdx.x * N; c < n; c += N * kThreads) {
        float gate[N], up[N], d[N];
        load(dproduct, from + c, d);
        load(expanded, at + c, gate);
        if (shape.gated) load(expanded, at + n + c, up);
        for (int i = 0; i < N; ++i) {
            const ValueAndSlope there = activate(shape.kind, gate[i]);
            gate[i] = d[i] * there.slope * (shape.gated ? up[i] : 1.0F);
            up[i] = d[i] * there.value;
        }
        store(expanded, at + c, gate);
        if (shape.gated) store(expanded, at + n + c, up);
    }
}

bool wide(const ActivationShape& shape, const Array& a, const Array& b) {
    return shape.columns % kWide == 0 && a.aligned_to(kWide) && b.aligned_to(kWide);
}

template <int N>
__global__ void __launch_bounds__(kThreads)
    rope_kernel(RopeShape shape, const float* cosine, const float* sine, float direction, Array values) {
    const std::int64_t row = blockIdx.x, table = row % shape.sequence * shape.pairs, groups = shape.pairs / N;
    for (std::int64_t g = threadIdx.x; g < shape.heads * groups; g += kThreads) {
        const std::int64_t pair = g % groups * N;
        const std::int64_t low = row * shape.stride + g / groups * shape.head_dim + pair,
                           high = low + shape.pairs;
        float a[N], b[N], x[N], y[N];
        load(values, low, a);
        load(values, high, b);
        for (int i = 0; i < N; ++i) {
            const float c = cosine[table + pair + i], s = direction * sine[table + pair + i];
            x[i] = a[i] * c - b[i] * s;
            y[i] = b[i] * c + a[i] * s;
        }
        store(values, low, x);
        store(values, high, y);
    }
}

}  // namespace

void activation_forward(const ActivationShape& shape, const Array& expanded, const Array& product,
                        cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(shape.rows);
    if (wide(shape, expanded, product))
        forward_kernel<kWide><<<rows, kThreads, 0, stream>>>(shape, expanded, product);
    else
        forward_kernel<1><<<rows, kThreads, 0, stream>>>(shape, expanded, product);
    launched("activation_forward");
}

void activation_backward(const ActivationShape& shape, const Array& product_gradient, const Array& expanded,
                         cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(shape.rows);
    if (wide(shape, expanded, product_gradient))
        backward_kernel<kWide><<<rows, kThreads, 0, stream>>>(shape, product_gradient, expanded);
    else
        backward_kernel<1><<<rows, kThreads, 0, stream>>>(shape, product_gradient, expanded);
    launched("activation_backward");
}

void rope(const RopeShape& shape, const float* cosine, const float* sine, bool backward, const Array& values,
          cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(shape.rows);
    const float direction = backward ? -1.0F : 1.0F;
    const bool whole = shape.pairs % kWide == 0 && shape.head_dim % kWide == 0 && shape.stride % kWide == 0;
    if (whole && values.aligned_to(kWide))
        rope_kernel<kWide><<<rows, kThreads, 0, stream>>>(shape, cosine, sine, direction, values);
    else
        rope_kernel<1><<<rows, kThreads, 0, stream>>>(shape, cosine, sine, direction, values);
    launched("rope");
}

}  // namespace wirewise::cuda
