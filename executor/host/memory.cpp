#include "executor/host/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace wirewise {

namespace {
constexpr std::align_val_t kAlignment{512};  // the arena's own
}

Bytes ArenaPlan::total() const {
    Bytes sum;
    for (const Bytes bytes : regions) sum += bytes;
    return sum;
}

ArenaPlan plan_arena(const StepProgram& load, const StepProgram& step) {
    MemoryWalk walk(make_arena());
    ArenaPlan plan;
    walk.run(load);
    walk.run(step, {.placements = &plan.placements});
    for (const Placement& placement : plan.placements) {
        if (placement.address < 0) continue;
        if (placement.region >= plan.regions.size()) plan.regions.resize(placement.region + 1);
        Bytes& top = plan.regions[placement.region];
        top = std::max(top, Bytes(placement.address) + placement.bytes);
    }
    plan.peak = walk.peak();
    ensure(plan.total() == walk.reserved(), "the regions are as large as the arena reserved");
    return plan;
}

void RankMemory::Free::operator()(std::byte* memory) const { ::operator delete[](memory, kAlignment); }

RankMemory::RankMemory(const ArenaPlan& plan) {
    for (const Bytes bytes : plan.regions) {
        const auto size = static_cast<std::size_t>(bytes.count());
        auto* const memory = static_cast<std::byte*>(::operator new[](size, kAlignment));
        std::memset(memory, 0, size);
        regions_.emplace_back(memory);
        allocated_ += bytes;
    }
    for (const Placement& placement : plan.placements)
        addresses_.push_back(placement.address < 0 ? nullptr
                                                   : regions_[placement.region].get() + placement.address);
}

}  // namespace wirewise
