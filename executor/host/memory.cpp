#include "executor/host/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace wirewise {

namespace {
constexpr std::align_val_t kAlignment{512};  // the arena's own
}

void RankMemory::Free::operator()(std::byte* memory) const { ::operator delete[](memory, kAlignment); }

RankMemory::RankMemory(const MemoryPlan& plan, std::size_t program)
    : offsets_(plan.offsets.at(program)), allocated_(plan.bytes) {
    const auto size = static_cast<std::size_t>(allocated_.count());
    arena_.reset(static_cast<std::byte*>(::operator new[](size, kAlignment)));
    std::memset(arena_.get(), 0, size);
}

std::byte* RankMemory::twin(BufferId buffer, Bytes bytes) {
    std::vector<std::byte>& there = twins_[buffer];
    there.resize(std::max(there.size(), static_cast<std::size_t>(bytes.count())));
    return there.data();
}

}  // namespace wirewise
