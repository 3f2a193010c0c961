#include "model/program/memory_plan.hpp"

#include <algorithm>
#include <utility>

#include "model/program/walk.hpp"

namespace wirewise {

namespace {

using Placements = std::vector<BufferPlace>;  // of one program

// The size of each region: the highest end of a block in it.
std::vector<Bytes> region_sizes(const std::vector<Placements>& programs) {
    std::vector<Bytes> sizes;
    for (const Placements& places : programs)
        for (const BufferPlace& place : places) {
            if (place.bytes == Bytes(0)) continue;
            if (place.region >= sizes.size()) sizes.resize(place.region + 1);
            sizes[place.region] = std::max(sizes[place.region], Bytes(place.address) + place.bytes);
        }
    return sizes;
}

}  // namespace

MemoryPlan plan_memory(std::span<const StepProgram* const> programs) {
    MemoryWalk walk(make_arena());
    std::vector<Placements> placements(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i) walk.run(*programs[i], {.placements = &placements[i]});

    MemoryPlan plan;
    const std::vector<Bytes> sizes = region_sizes(placements);
    std::vector<Bytes> starts(sizes.size());
    const auto lay_out = [&](Lifetime lifetime) {
        for (std::uint32_t region = 0; region < sizes.size(); ++region)
            if (lifetime_of(region) == lifetime)
                starts[region] = std::exchange(plan.bytes, plan.bytes + sizes[region]);
    };
    lay_out(Lifetime::persistent);
    plan.persistent_bytes = plan.bytes;
    lay_out(Lifetime::transient);
    ensure(plan.bytes == walk.reserved(), "bytes planned equal bytes reserved");

    for (const Placements& places : placements) {
        auto& offsets = plan.offsets.emplace_back();
        for (const BufferPlace& place : places)
            offsets.push_back(place.bytes == Bytes(0) ? -1 : starts[place.region].count() + place.address);
    }
    return plan;
}

}  // namespace wirewise
