#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/norm.hpp"
#include "executor/cuda/kernels/reduce.hpp"
#include "model/units/error.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 4;  // of the backward, which keeps sums from row to row
constexpr std::size_t kMostShared =
    200 << 10;  // of what Hopper and Ampere data-centre GPUs give a block: 163 KiB up

template <int N>
__device__ __forceinline__ void load_or(const Array& from, std::int64_t index, float absent, float (&to)[N]) {
    if (from.data) return load(from, index, to);
    for (int i = 0; i < N; ++i) to[i] = absent;
}

struct Row {
    float rstd, mean;
};

template <int N>
__device__ Row measure(const NormShape& shape, const Array& x, std::int64_t first) {
    const int step = N * kThreads;
    float mean = 0, squares = 0, values[N];
    if (shape.layer) {
        float sum = 0;
        for (std::int64_t c = threadIdx.x * N; c < shape.columns; c += step) {
            load(x, first + c, values);
            for (int i = 0; i < N; ++i) sum += values[i];
        }
        mean = block_sum(sum) / static_cast<float>(shape.columns);
    }
    for (std::int64_t c = threadIdx.x * N; c < shape.columns; c += step) {
        load(x, first + c, values);
        for (int i = 0; i < N; ++i) squares += (values[i] - mean) * (values[i] - mean);
    }
    squares = block_sum(squares);
    return {1.0F / sqrtf(squares / static_cast<float>(shape.columns) + shape.epsilon), mean};
}

template <int N>
__device__ void normalize(const NormShape& shape, const Array& x, const Array& weight, const Array& bias,
                          Row row, const Array& y, std::int64_t first) {
    for (std::int64_t c = threadIdx.x * N; c < shape.columns; c += N * kThreads) {
        float values[N], w[N], b[N];
        load(x, first + c, values);
        load_or(weight, c, 1.0F, w);
        load_or(bias, c, 0.0F, b);
        for (int i = 0; i < N; ++i) values[i] = (values[i] - row.mean) * row.rstd * w[i] + b[i];
        store(y, first + c, values);
    }
}

template <int N>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(NormShape shape, Array x, Array weight, Array bias, Array y, float* statistics) {
    const std::int64_t r = blockIdx.x;
    const Row row = measure<N>(shape, x, r * shape.columns);
    if (threadIdx.x == 0) {
        statistics[r] = row.rstd;
        if (shape.layer) statistics[shape.rows + r] = row.mean;
    }
    normalize<N>(shape, x, weight, bias, row, y, r * shape.columns);
}

template <int N>
__global__ void __launch_bounds__(kThreads)
    recompute_kernel(NormShape shape, Array x, Array weight, Array bias, const float* statistics, Array y) {
    const std::int64_t r = blockIdx.x;
    const Row row{statistics[r], shape.layer ? statistics[shape.rows + r] : 0.0F};
    normalize<N>(shape, x, weight, bias, row, y, r * shape.columns);
}

// Each thread keeps the sums of its own columns in shared memory, from row to row; value i of group g lies at
// [i, g], so that a warp meets no bank twice.
template <int N>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(NormShape shape, Array dy, Array x, Array weight, const float* statistics, Sum dx,
                    float* weight_partials, float* bias_partials) {
    extern __shared__ float sums[];
    const std::int64_t columns = shape.columns, groups = columns / N;
    float* const weight_sums = sums;
    float* const bias_sums = sums + columns;
    for (std::int64_t g = threadIdx.x; g < groups; g += kThreads)
        for (int i = 0; i < N; ++i) {
            if (weight_partials) weight_sums[i * groups + g] = 0;
            if (bias_partials) bias_sums[i * groups + g] = 0;
        }
    for (std::int64_t r = blockIdx.x; r < shape.rows; r += gridDim.x) {
        const std::int64_t first = r * columns;
        const Row row{statistics[r], shape.layer ? statistics[shape.rows + r] : 0.0F};
        float g[N], normed[N], w[N];
        const auto fetch = [&](std::int64_t c) {
            load(dy, first + c, g);
            load(x, first + c, normed);
            load_or(weight, c, 1.0F, w);
            for (int i = 0; i < N; ++i) normed[i] = (normed[i] - row.mean) * row.rstd;
        };
        float2 along{0, 0};  // of g x normed x, and of g
        for (std::int64_t group = threadIdx.x; group < groups; group += kThreads) {
            fetch(group * N);
            for (int i = 0; i < N; ++i) along = {along.x + g[i] * w[i] * normed[i], along.y + g[i] * w[i]};
        }
        along = block_sum(along);
        const float along_x = along.x / static_cast<float>(columns);
        const float mean = shape.layer ? along.y / static_cast<float>(columns) : 0.0F;
        for (std::int64_t group = threadIdx.x; group < groups; group += kThreads) {
            fetch(group * N);
            float out[N];
            if (dx.adds) load(dx.array, first + group * N, out);
            for (int i = 0; i < N; ++i) {
                if (weight_partials) weight_sums[i * groups + group] += g[i] * normed[i];
                if (bias_partials) bias_sums[i * groups + group] += g[i];
                out[i] = (dx.adds ? out[i] : 0.0F) + row.rstd * (g[i] * w[i] - mean - normed[i] * along_x);
            }
            store(dx.array, first + group * N, out);
        }
    }
    for (std::int64_t group = threadIdx.x; group < groups; group += kThreads)
        for (int i = 0; i < N; ++i) {
            const std::int64_t to = blockIdx.x * columns + group * N + i;
            if (weight_partials) weight_partials[to] = weight_sums[i * groups + group];
            if (bias_partials) bias_partials[to] = bias_sums[i * groups + group];
        }
}

unsigned backward_blocks(std::int64_t rows) {
    return blocks_for(rows, 1, static_cast<std::int64_t>(kBlocksPerMultiprocessor) * multiprocessors());
}

template <int N>
void launch_backward(const NormShape& shape, const Array& dy, const Array& x, const Array& weight,
                     const float* statistics, const Sum& dx, float* weight_partials, float* bias_partials,
                     cudaStream_t stream) {
    const std::size_t shared =
        static_cast<std::size_t>(shape.columns) * sizeof(float) * (bias_partials ? 2 : 1);
    ensure(shared <= kMostShared, "a norm's columns fit into shared memory");
    if (shared > 48 << 10)
        check(cudaFuncSetAttribute(backward_kernel<N>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared)),
              "cudaFuncSetAttribute");
    backward_kernel<N><<<backward_blocks(shape.rows), kThreads, shared, stream>>>(
        shape, dy, x, weight, statistics, dx, weight_partials, bias_partials);
    launched("norm_backward");
}

template <class... Arrays>
bool wide(std::int64_t columns, const Arrays&... arrays) {
    return columns % kWide == 0 && ((!arrays || arrays.aligned_to(kWide)) && ...);
}

// A warp per head of a row: q's heads, then k's.
struct Head {
    std::int64_t row, index, offset, which;  // offset in the row; which: of the weight
};
__device__ Head head_at(const HeadNormShape& shape, std::int64_t number) {
    const std::int64_t heads = shape.heads + shape.kv_heads, index = number % heads;
    return {number / heads, index, index * shape.head_dim, index < shape.heads ? 0 : shape.head_dim};
}

__global__ void __launch_bounds__(kThreads)
    head_forward_kernel(HeadNormShape shape, Array x, std::int64_t x_stride, Array weight, Array y,
                        std::int64_t y_stride, float* statistics) {
    const std::int64_t warps = kThreads / kWarp, lane = threadIdx.x % kWarp, d = shape.head_dim;
    const std::int64_t number = blockIdx.x * warps + threadIdx.x / kWarp;
    if (number >= shape.rows * (shape.heads + shape.kv_heads)) return;
    const Head head = head_at(shape, number);
    const std::int64_t from = head.row * x_stride + head.offset, to = head.row * y_stride + head.offset;
    float squares = 0;
    for (std::int64_t c = lane; c < d; c += kWarp) squares += load(x, from + c) * load(x, from + c);
    const float rstd = 1.0F / sqrtf(warp_sum(squares) / static_cast<float>(d) + shape.epsilon);
    if (lane == 0) statistics[number] = rstd;
    for (std::int64_t c = lane; c < d; c += kWarp)
        store(y, to + c, load(x, from + c) * rstd * load(weight, head.which + c));
}

// Each warp sums the weight's gradient over its heads in its own part of shared memory.
__global__ void __launch_bounds__(kThreads)
    head_backward_kernel(HeadNormShape shape, Array gradient, std::int64_t gradient_stride, Array x,
                         std::int64_t x_stride, Array weight, const float* statistics, float* partials) {
    extern __shared__ float sums[];
    const std::int64_t warps = kThreads / kWarp, lane = threadIdx.x % kWarp, d = shape.head_dim;
    float* const own = sums + threadIdx.x / kWarp * 2 * d;
    for (std::int64_t c = lane; c < 2 * d; c += kWarp) own[c] = 0;
    const std::int64_t count = shape.rows * (shape.heads + shape.kv_heads);
    for (std::int64_t number = blockIdx.x * warps + threadIdx.x / kWarp; number < count;
         number += gridDim.x * warps) {
        __syncwarp();  // q's and k's sums may be another lane's
        const Head head = head_at(shape, number);
        const std::int64_t at = head.row * gradient_stride + head.offset,
                           from = head.row * x_stride + head.offset;
        const float rstd = statistics[number];
        float along = 0;
        for (std::int64_t c = lane; c < d; c += kWarp)
            along += load(gradient, at + c) * load(weight, head.which + c) * load(x, from + c) * rstd;
        along = warp_sum(along) / static_cast<float>(d);
        for (std::int64_t c = lane; c < d; c += kWarp) {
            const float g = load(gradient, at + c), normed = load(x, from + c) * rstd;
            own[head.which + c] += g * normed;
            store(gradient, at + c, rstd * (g * load(weight, head.which + c) - normed * along));
        }
    }
    __syncthreads();
    for (std::int64_t c = threadIdx.x; c < 2 * d; c += kThreads) {
        float sum = 0;
        for (std::int64_t warp = 0; warp < warps; ++warp) sum += sums[warp * 2 * d + c];
        partials[blockIdx.x * 2 * d + c] = sum;
    }
}

unsigned head_blocks(const HeadNormShape& shape) {
    return blocks_for(shape.rows * (shape.heads + shape.kv_heads), kThreads / kWarp,
                      static_cast<std::int64_t>(kBlocksPerMultiprocessor) * multiprocessors());
}

}  // namespace

void norm_forward(const NormShape& shape, const Array& x, const Array& weight, const Array& bias,
                  const Array& y, float* statistics, cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(shape.rows);
    if (wide(shape.columns, x, weight, bias, y))
        forward_kernel<kWide><<<rows, kThreads, 0, stream>>>(shape, x, weight, bias, y, statistics);
    else
        forward_kernel<1><<<rows, kThreads, 0, stream>>>(shape, x, weight, bias, y, statistics);
    launched("norm_forward");
}

void norm_recompute(const NormShape& shape, const Array& x, const Array& weight, const Array& bias,
                    const float* statistics, const Array& y, cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(shape.rows);
    if (wide(shape.columns, x, weight, bias, y))
        recompute_kernel<kWide><<<rows, kThreads, 0, stream>>>(shape, x, weight, bias, statistics, y);
    else
        recompute_kernel<1><<<rows, kThreads, 0, stream>>>(shape, x, weight, bias, statistics, y);
    launched("norm_recompute");
}

std::int64_t norm_backward_scratch(const NormShape& shape) {
    return 2 * static_cast<std::int64_t>(backward_blocks(shape.rows)) * shape.columns;
}

void norm_backward(const NormShape& shape, const Array& dy, const Array& x, const Array& weight,
                   const float* statistics, const Sum& dx, const Sum& weight_gradient,
                   const Sum& bias_gradient, float* scratch, cudaStream_t stream) {
    const unsigned blocks = backward_blocks(shape.rows);
    float* const weights = weight_gradient.array ? scratch : nullptr;
    float* const biases = bias_gradient.array ? scratch + blocks * shape.columns : nullptr;
    if (wide(shape.columns, dy, x, weight, dx.array))
        launch_backward<kWide>(shape, dy, x, weight, statistics, dx, weights, biases, stream);
    else
        launch_backward<1>(shape, dy, x, weight, statistics, dx, weights, biases, stream);
    if (weights)
        sum_partials(weights, blocks, shape.columns, weight_gradient.array, weight_gradient.adds, stream);
    if (biases) sum_partials(biases, blocks, shape.columns, bias_gradient.array, bias_gradient.adds, stream);
}

void head_norm_forward(const HeadNormShape& shape, const Array& x, std::int64_t x_stride, const Array& weight,
                       const Array& y, std::int64_t y_stride, float* statistics, cudaStream_t stream) {
    const unsigned blocks = blocks_for(shape.rows * (shape.heads + shape.kv_heads), kThreads / kWarp);
    head_forward_kernel<<<blocks, kThreads, 0, stream>>>(shape, x, x_stride, weight, y, y_stride, statistics);
    launched("head_norm_forward");
}

std::int64_t head_norm_backward_scratch(const HeadNormShape& shape) {
    return static_cast<std::int64_t>(head_blocks(shape)) * 2 * shape.head_dim;
}

void head_norm_backward(const HeadNormShape& shape, const Array& gradient, std::int64_t gradient_stride,
                        const Array& x, std::int64_t x_stride, const Array& weight, const float* statistics,
                        const Sum& weight_gradient, float* scratch, cudaStream_t stream) {
    const unsigned blocks = head_blocks(shape);
    const std::size_t shared =
        static_cast<std::size_t>(2 * shape.head_dim * (kThreads / kWarp)) * sizeof(float);
    head_backward_kernel<<<blocks, kThreads, shared, stream>>>(shape, gradient, gradient_stride, x, x_stride,
                                                               weight, statistics, scratch);
    launched("head_norm_backward");
    sum_partials(scratch, blocks, 2 * shape.head_dim, weight_gradient.array, weight_gradient.adds, stream);
}

}  // namespace wirewise::cuda
