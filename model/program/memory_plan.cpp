#include "model/program/memory_plan.hpp"

#include <algorithm>

#include "model/program/walk.hpp"

namespace wirewise {

namespace {

using Placements = std::vector<Placement>;  // of one program

std::vector<MemoryPlan::Region> lay_out(const std::vector<Placements>& programs) {
    std::vector<MemoryPlan::Region> regions;
    for (const Placements& places : programs)
        for (const Placement& place : places) {
            if (place.bytes == Bytes(0)) continue;
            if (place.region >= regions.size()) regions.resize(place.region + 1);
            Bytes& size = regions[place.region].bytes;
            size = std::max(size, Bytes(place.address) + place.bytes);
        }
    for (std::size_t i = 1; i < regions.size(); ++i)
        regions[i].offset = regions[i - 1].offset + regions[i - 1].bytes;
    return regions;
}

}  // namespace

MemoryPlan plan_memory(std::span<const StepProgram* const> programs) {
    MemoryWalk walk(make_arena());
    std::vector<Placements> placements(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i) walk.run(*programs[i], {.placements = &placements[i]});

    MemoryPlan plan;
    plan.regions = lay_out(placements);
    if (!plan.regions.empty()) plan.bytes = plan.regions.back().offset + plan.regions.back().bytes;
    ensure(plan.bytes == walk.reserved(), "bytes planned equal bytes reserved");
    for (const Placements& places : placements) {
        auto& offsets = plan.offsets.emplace_back();
        for (const Placement& place : places)
            offsets.push_back(
                place.bytes == Bytes(0) ? -1 : plan.regions[place.region].offset.count() + place.address);
    }
    return plan;
}

}  // namespace wirewise
