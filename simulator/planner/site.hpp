// Where a plan runs: chosen GPUs of a machine in rank order, the job's NCCL environment, the GPU's cost
// profile.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "model/collectives/pricer.hpp"
#include "model/cost/cost_profile.hpp"
#include "model/strategy/plan.hpp"
#include "simulator/simulate.hpp"

namespace wirewise {

// GPUs (by index of the machine) of each group along an axis. Rank r of the mesh is (r / shard, r % shard)
// and runs on gpus[r]: a shard group is made of neighbours, a replicate group of ranks that hold the same
// shard.
std::vector<std::vector<int>> groups_along(Axis axis, const Mesh& mesh, const std::vector<int>& gpus);

class CollectiveSamples;

// Ring searches are done once per set of groups and shared by all plans that run here. Not for several
// threads at once.
class Site {
  public:
    // All references must outlive the site; `samples` may be null.
    Site(const Machine& machine, const NcclEnvironment& environment, const CostProfile& profile,
         const CollectiveSamples* samples, std::vector<int> gpus);

    const Machine& machine() const { return machine_; }
    const CostProfile& profile() const { return profile_; }
    const std::vector<int>& gpus() const { return gpus_; }
    int ranks() const { return static_cast<int>(gpus_.size()); }
    const GpuModel& gpu() const { return *machine_.gpu(gpus_.front()).model; }
    Bytes memory_limit() const { return gpu().memory_total; }

    // Pricers of the axes along which this mesh has more than one rank.
    Wires wires(const Mesh& mesh) const;

  private:
    const CollectivePricer* pricer(Axis axis, const Mesh& mesh) const;

    const Machine& machine_;
    const NcclEnvironment& environment_;
    const CostProfile& profile_;
    const CollectiveSamples* samples_;
    std::vector<int> gpus_;
    mutable std::map<std::vector<std::vector<int>>, std::unique_ptr<CollectivePricer>> pricers_;
};

}  // namespace wirewise
