#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/elementwise.hpp"
#include "executor/training/random.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 16;

// Calls each.run<N>(index) for groups of N elements.
template <int N, class Each>
__global__ void __launch_bounds__(kThreads) for_each_group(std::int64_t groups, Each each) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t g = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; g < groups;
         g += stride)
        each.template run<N>(g * N);
}

template <int N, class Each>
void launch(const Each& each, std::int64_t groups, cudaStream_t stream, const char* name) {
    if (groups == 0) return;
    const unsigned blocks = blocks_for(groups, kThreads, kBlocksPerMultiprocessor * multiprocessors());
    for_each_group<N><<<blocks, kThreads, 0, stream>>>(groups, each);
    launched(name);
}

// An elementwise kernel reads and writes at the same index; `wide` says that its arrays are aligned.
template <class Each>
void launch_elements(Each each, std::int64_t count, bool wide, cudaStream_t stream, const char* name) {
    const std::int64_t groups = wide ? count / kWide : 0;
    launch<kWide>(each, groups, stream, name);
    each.offset = groups * kWide;
    launch<1>(each, count - each.offset, stream, name);
}

struct Cast {
    Array a, b;
    std::int64_t offset = 0;
    template <int N>
    __device__ void run(std::int64_t i) const {
        float x[N];
        load(a, offset + i, x);
        store(b, offset + i, x);
    }
};

struct Add {
    Array a, b, c;
    std::int64_t offset = 0;
    template <int N>
    __device__ void run(std::int64_t i) const {
        float x[N], y[N];
        load(a, offset + i, x);
        load(b, offset + i, y);
        for (int j = 0; j < N; ++j) x[j] += y[j];
        store(c, offset + i, x);
    }
};

struct Scale {
    Array a;
    const float* factor;
    std::int64_t offset = 0;
    template <int N>
    __device__ void run(std::int64_t i) const {
        float x[N];
        load(a, offset + i, x);
        for (int j = 0; j < N; ++j) x[j] *= *factor;
        store(a, offset + i, x);
    }
};

struct PositionAdd {
    Array x, table;
    std::int64_t period;
    template <int N>
    __device__ void run(std::int64_t i) const {
        store(x, i, load(x, i) + load(table, i % period));
    }
};

struct PositionBackward {
    Array dx, gradient;
    std::int64_t count, period;
    template <int N>
    __device__ void run(std::int64_t i) const {
        float sum = load(gradient, i);
        for (std::int64_t at = i; at < count; at += period) sum += load(dx, at);
        store(gradient, i, sum);
    }
};

struct Normal {
    Array a;
    double deviation;
    std::uint64_t random_stream;
    std::int64_t first;
    template <int N>
    __device__ void run(std::int64_t i) const {
        constexpr double kTwoPi = 6.283185307179586476925286766559;
        const auto index = 2 * static_cast<std::uint64_t>(first + i);
        const double radius = sqrt(-2 * log(unit_interval(random_bits(random_stream, index))));
        const double angle = kTwoPi * unit_interval(random_bits(random_stream, index + 1));
        store(a, i, static_cast<float>(deviation * radius * cos(angle)));
    }
};

struct Constant {
    Array a;
    float value;
    template <int N>
    __device__ void run(std::int64_t i) const {
        store(a, i, value);
    }
};

template <class... Arrays>
bool wide(const Arrays&... arrays) {
    return (arrays.aligned_to(kWide) && ...);
}

}  // namespace

void cast(const Array& a, const Array& b, std::int64_t count, cudaStream_t stream) {
    launch_elements(Cast{a, b}, count, wide(a, b), stream, "cast");
}

void accumulate(const Array& a, const Array& b, std::int64_t count, cudaStream_t stream) {
    launch_elements(Add{a, b, b}, count, wide(a, b), stream, "accumulate");
}

void add(const Array& a, const Array& b, const Array& c, std::int64_t count, cudaStream_t stream) {
    launch_elements(Add{a, b, c}, count, wide(a, b, c), stream, "add");
}

void scale(const Array& a, const float* factor, std::int64_t count, cudaStream_t stream) {
    launch_elements(Scale{a, factor}, count, wide(a), stream, "scale");
}

void fill_zero(const Array& a, std::int64_t count, cudaStream_t stream) {
    check(cudaMemsetAsync(a.data, 0, static_cast<std::size_t>(count * size_of(a.type)), stream),
          "cudaMemsetAsync");
}

void position_add(const Array& x, const Array& table, std::int64_t count, std::int64_t period,
                  cudaStream_t stream) {
    launch<1>(PositionAdd{x, table, period}, count, stream, "position_add");
}

void position_backward(const Array& dx, const Array& table_gradient, std::int64_t count, std::int64_t period,
                       cudaStream_t stream) {
    launch<1>(PositionBackward{dx, table_gradient, count, period}, std::min(period, count), stream,
              "position_backward");
}

void fill_normal(const Array& a, std::int64_t count, double deviation, std::uint64_t random_stream,
                 std::int64_t first, cudaStream_t stream) {
    launch<1>(Normal{a, deviation, random_stream, first}, count, stream, "fill_normal");
}

void fill_constant(const Array& a, std::int64_t count, float value, cudaStream_t stream) {
    launch<1>(Constant{a, value}, count, stream, "fill_constant");
}

}  // namespace wirewise::cuda
