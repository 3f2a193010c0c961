// Tokens sorted by what they are, their rows in order: then each token's rows lie side by side.
#include <cub/device/device_radix_sort.cuh>

#include "executor/cuda/kernels/device.cuh"
#include "executor/cuda/kernels/loss.hpp"

namespace wirewise::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kAhead = 8;  // rows on their way at once: a frequent token's sum waits for memory otherwise

__global__ void __launch_bounds__(kThreads) number_rows(std::int32_t* rows, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < count) rows[i] = static_cast<std::int32_t>(i);
}

// The block of a token's first place sums all its rows; the others have nothing to do. Each block looks after
// a stretch of the columns.
__global__ void __launch_bounds__(kThreads)
    sum_rows_kernel(const std::int32_t* sorted, const std::int32_t* order, std::int64_t rows,
                    std::int64_t columns, Array dx, Array gradient) {
    const std::int64_t first = blockIdx.x;
    const std::int32_t token = sorted[first];
    if (first > 0 && sorted[first - 1] == token) return;
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
    if (column >= columns) return;
    float sum = load(gradient, token * columns + column);
    for (std::int64_t place = first; place < rows && sorted[place] == token; place += kAhead) {
        float values[kAhead] = {};
#pragma unroll
        for (int i = 0; i < kAhead; ++i)
            if (place + i < rows && sorted[place + i] == token)
                values[i] = load(dx, order[place + i] * columns + column);
#pragma unroll
        for (int i = 0; i < kAhead; ++i) sum += values[i];
    }
    store(gradient, token * columns + column, sum);
}

// What a call keeps: sorted tokens, row numbers, the same in the tokens' order, and the sort's own.
struct Scratch {
    std::int32_t *sorted, *rows, *order;
    void* sort;
};
constexpr std::int64_t kAligned = 256;
std::int64_t list_bytes(std::int64_t rows) {
    return (rows * static_cast<std::int64_t>(sizeof(std::int32_t)) + kAligned - 1) / kAligned * kAligned;
}
Scratch scratch_at(void* memory, std::int64_t rows) {
    auto* const bytes = static_cast<std::byte*>(memory);
    const auto list = [&](int i) { return reinterpret_cast<std::int32_t*>(bytes + i * list_bytes(rows)); };
    return {list(0), list(1), list(2), list(3)};
}

// With no memory, says how much it wants.
std::size_t sort(void* memory, std::size_t bytes, const std::int32_t* tokens, const Scratch& scratch,
                 std::int64_t rows, cudaStream_t stream) {
    check(cub::DeviceRadixSort::SortPairs(memory, bytes, tokens, scratch.sorted, scratch.rows, scratch.order,
                                          static_cast<int>(rows), 0, 32, stream),
          "cub::DeviceRadixSort::SortPairs");
    return bytes;
}

}  // namespace

std::int64_t embedding_backward_scratch(std::int64_t rows) {
    return 3 * list_bytes(rows) + static_cast<std::int64_t>(sort(nullptr, 0, nullptr, {}, rows, nullptr));
}

void embedding_backward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns, const Array& dx,
                        const Array& table_gradient, void* scratch, cudaStream_t stream) {
    const Scratch kept = scratch_at(scratch, rows);
    number_rows<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(kept.rows, rows);
    launched("number_rows");
    const auto own = static_cast<std::size_t>(embedding_backward_scratch(rows) - 3 * list_bytes(rows));
    sort(kept.sort, own, tokens, kept, rows, stream);
    const dim3 grid(static_cast<unsigned>(rows), blocks_for(columns, kThreads));
    sum_rows_kernel<<<grid, kThreads, 0, stream>>>(kept.sorted, kept.order, rows, columns, dx, table_gradient);
    launched("embedding_backward");
}

}  // namespace wirewise::cuda
