#include "simulator/planner/site.hpp"

#include "model/units/error.hpp"

namespace wirewise {

std::vector<std::vector<int>> groups_along(Axis axis, const Mesh& mesh, const std::vector<int>& gpus) {
    ensure(mesh.world() == static_cast<int>(gpus.size()), "the mesh has one rank per GPU");
    if (axis == Axis::world) return {gpus};
    const bool sharding = axis == Axis::shard;
    const int count = sharding ? mesh.replicate : mesh.shard, size = sharding ? mesh.shard : mesh.replicate;
    std::vector<std::vector<int>> groups(static_cast<std::size_t>(count));
    for (int group = 0; group < count; ++group)
        for (int member = 0; member < size; ++member) {
            const int rank = sharding ? group * mesh.shard + member : member * mesh.shard + group;
            groups[static_cast<std::size_t>(group)].push_back(gpus[static_cast<std::size_t>(rank)]);
        }
    return groups;
}

Site::Site(const Machine& machine, const NcclEnvironment& environment, const CostProfile& profile,
           const CollectiveSamples* samples, std::vector<int> gpus)
    : machine_(machine),
      environment_(environment),
      profile_(profile),
      samples_(samples),
      gpus_(std::move(gpus)) {
    ensure(!gpus_.empty(), "a site has at least one GPU");
}

const CollectivePricer* Site::pricer(Axis axis, const Mesh& mesh) const {
    auto groups = groups_along(axis, mesh, gpus_);
    if (groups.front().size() < 2) return nullptr;
    auto& entry = pricers_[groups];
    if (!entry)
        entry = std::make_unique<CollectivePricer>(machine_, environment_, std::move(groups), samples_);
    return entry.get();
}

Wires Site::wires(const Mesh& mesh) const {
    return {pricer(Axis::replicate, mesh), pricer(Axis::shard, mesh), pricer(Axis::world, mesh)};
}

}  // namespace wirewise
