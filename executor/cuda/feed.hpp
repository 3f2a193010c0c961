// One rank's part of a batch in pinned memory, by micro-batch: what its copies from host memory bring.
#pragma once

#include <cstdint>
#include <span>

#include "executor/cuda/handles.hpp"

namespace wirewise::cuda {

class BatchFeed {
  public:
    BatchFeed(std::int64_t tokens, std::int64_t sequence);
    // Sequences of the step, row-major; the target of a token is the next one, of a sequence's last none.
    void fill(std::span<const std::int32_t> tokens);
    const std::int32_t* tokens() const { return reinterpret_cast<const std::int32_t*>(tokens_.data()); }
    const std::int32_t* targets() const { return reinterpret_cast<const std::int32_t*>(targets_.data()); }

  private:
    std::int64_t sequence_;
    PinnedMemory tokens_, targets_;
};

}  // namespace wirewise::cuda
