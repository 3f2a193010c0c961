// multi_tensor_apply: one kernel launch serves up to 320 chunks of 65,536 elements of up to some number of
// tensors. Source: aten/src/ATen/native/cuda/MultiTensorApply.cuh (2.11); agrees with the launch counts of
// profiled steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace wirewise {

// Elements [offset, offset + count) of the list's tensor `tensor`.
struct TensorPart {
    std::size_t tensor = 0;
    std::int64_t offset = 0, count = 0;
};

// `depth`: how many lists of tensors the kernel walks together (copy 2, fused AdamW 4).
template <class OnLaunch>
void for_each_launch(const std::vector<std::int64_t>& counts, int depth, OnLaunch&& on_launch) {
    constexpr std::int64_t kChunk = 65536;
    constexpr std::int64_t kChunks = 320;
    constexpr std::array<std::size_t, 5> kTensors{110, 64, 48, 36, 30};
    const std::size_t most_tensors = kTensors.at(static_cast<std::size_t>(depth - 1));
    std::vector<TensorPart> launch;
    std::int64_t chunks_left = kChunks;
    const auto flush = [&] {
        if (!launch.empty()) on_launch(std::as_const(launch));
        launch.clear();
        chunks_left = kChunks;
    };
    for (std::size_t tensor = 0; tensor < counts.size(); ++tensor) {
        for (std::int64_t offset = 0; offset < counts[tensor];) {
            const std::int64_t count = std::min(chunks_left * kChunk, counts[tensor] - offset);
            launch.push_back({tensor, offset, count});
            offset += count;
            chunks_left -= (count + kChunk - 1) / kChunk;
            if (chunks_left == 0) flush();
        }
        if (launch.size() == most_tensors) flush();
    }
    flush();
}

}  // namespace wirewise
