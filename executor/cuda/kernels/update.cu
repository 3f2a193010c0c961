#include <cmath>

#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/update.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kGroup = 4;

struct Rates {
    float beta1, beta2, rest1, rest2, decay, step_size, root_correction, epsilon;
};

Rates rates_of(const Hyperparameters& numbers, std::int64_t step) {
    const double t = static_cast<double>(step);
    const double correction1 = 1 - std::pow(numbers.beta1, t), correction2 = 1 - std::pow(numbers.beta2, t);
    return {.beta1 = static_cast<float>(numbers.beta1),
            .beta2 = static_cast<float>(numbers.beta2),
            .rest1 = static_cast<float>(1 - numbers.beta1),
            .rest2 = static_cast<float>(1 - numbers.beta2),
            .decay = static_cast<float>(1 - numbers.learning_rate * numbers.weight_decay),
            .step_size = static_cast<float>(numbers.learning_rate / correction1),
            .root_correction = static_cast<float>(1 / std::sqrt(correction2)),
            .epsilon = static_cast<float>(numbers.epsilon)};
}

template <int N>
__device__ void update(const Rates& rates, const AdamWOperands& to, float factor, std::int64_t at) {
    float g[N], w[N], m[N], v[N];
    const Array& target = to.master.data ? to.master : to.parameter;
    load(to.gradient, at, g);
    load(target, at, w);
    load(to.first, at, m);
    load(to.second, at, v);
    for (int i = 0; i < N; ++i) {
        const float gradient = g[i] * factor;
        m[i] = rates.beta1 * m[i] + rates.rest1 * gradient;
        v[i] = rates.beta2 * v[i] + rates.rest2 * gradient * gradient;
        w[i] = w[i] * rates.decay -
               rates.step_size * m[i] / (sqrtf(v[i]) * rates.root_correction + rates.epsilon);
    }
    store(to.first, at, m);
    store(to.second, at, v);
    if (to.master.data) store(to.master, at, w);
    if (to.rounding.on)
        for (int i = 0; i < N; ++i) w[i] = rounded_at_random(w[i], to.rounding.bits(at + i));
    store(to.parameter, at, w);
}

template <int N>
__global__ void __launch_bounds__(kThreads) adamw_kernel(Rates rates, AdamWOperands operands) {
    const float factor = operands.clip_factor ? *operands.clip_factor : 1.0F;
    const std::int64_t groups = operands.count / N, stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    std::int64_t g = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    for (; g < groups; g += stride) update<N>(rates, operands, factor, g * N);
    if (blockIdx.x == 0 && threadIdx.x == 0)  // what N leaves over
        for (std::int64_t i = groups * N; i < operands.count; ++i) update<1>(rates, operands, factor, i);
}

bool wide(const AdamWOperands& operands) {
    return operands.gradient.aligned_to(kGroup) && operands.parameter.aligned_to(kGroup) &&
           operands.first.aligned_to(kGroup) && operands.second.aligned_to(kGroup) &&
           operands.master.aligned_to(kGroup);
}

}  // namespace

void adamw(const Hyperparameters& numbers, std::int64_t step, const AdamWOperands& operands,
           cudaStream_t stream) {
    const unsigned blocks = blocks_for(operands.count, kThreads * kGroup, 16 * multiprocessors());
    if (wide(operands))
        adamw_kernel<kGroup><<<blocks, kThreads, 0, stream>>>(rates_of(numbers, step), operands);
    else
        adamw_kernel<1><<<blocks, kThreads, 0, stream>>>(rates_of(numbers, step), operands);
    launched("adamw");
}

}  // namespace wirewise::cuda
