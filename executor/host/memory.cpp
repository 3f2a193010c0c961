#include "executor/host/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "model/units/text.hpp"

namespace wirewise {

namespace {
constexpr std::align_val_t kAlignment{512};  // the arena's own
}

void RankMemory::Free::operator()(std::byte* memory) const { ::operator delete[](memory, kAlignment); }

RankMemory::RankMemory(const MemoryPlan& plan, std::size_t program)
    : offsets_(plan.offsets.at(program)), allocated_(plan.bytes) {
    const auto size = static_cast<std::size_t>(allocated_.count());
    try {
        arena_.reset(static_cast<std::byte*>(::operator new[](size, kAlignment)));
    } catch (const std::bad_alloc&) {
        throw std::runtime_error(
            fmt::format("cannot allocate the {} of the plan's arena", to_text(allocated_)));
    }
    std::memset(arena_.get(), 0, size);
}

std::byte* RankMemory::twin(BufferId buffer, Bytes bytes) {
    std::vector<std::byte>& there = twins_[buffer];
    there.resize(std::max(there.size(), static_cast<std::size_t>(bytes.count())));
    return there.data();
}

}  // namespace wirewise
