#include "executor/cuda/memory.hpp"

namespace wirewise::cuda {

RankMemory::RankMemory(const MemoryPlan& plan, std::size_t program)
    : offsets_(plan.offsets.at(program)), arena_(static_cast<std::size_t>(plan.bytes.count())) {
    clear();
}

void RankMemory::clear() {
    if (arena_.size() > 0) check(cudaMemset(arena_.data(), 0, arena_.size()), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

std::byte* RankMemory::twin(BufferId buffer, Bytes bytes) {
    PinnedMemory& there = twins_[buffer];
    const auto size = static_cast<std::size_t>(bytes.count());
    if (there.size() < size) there = PinnedMemory(size);
    return there.data();
}

}  // namespace wirewise::cuda
