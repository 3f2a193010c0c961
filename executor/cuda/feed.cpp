#include "executor/cuda/feed.hpp"

#include <algorithm>

#include "model/units/error.hpp"

namespace wirewise::cuda {

namespace {
constexpr std::int32_t kNoTarget = -1;
}

BatchFeed::BatchFeed(std::int64_t tokens, std::int64_t sequence)
    : sequence_(sequence),
      tokens_(static_cast<std::size_t>(tokens) * sizeof(std::int32_t)),
      targets_(static_cast<std::size_t>(tokens) * sizeof(std::int32_t)) {}

void BatchFeed::fill(std::span<const std::int32_t> tokens) {
    ensure(tokens.size_bytes() == tokens_.size(), "a rank's part of the batch is what the plan says");
    std::copy(tokens.begin(), tokens.end(), reinterpret_cast<std::int32_t*>(tokens_.data()));
    auto* const targets = reinterpret_cast<std::int32_t*>(targets_.data());
    const auto sequence = static_cast<std::size_t>(sequence_);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        targets[i] = (i + 1) % sequence == 0 ? kNoTarget : tokens[i + 1];
}

}  // namespace wirewise::cuda
