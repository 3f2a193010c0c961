#include "tests/gpu/cuda_team.hpp"

namespace wirewise::test {

CudaTeam::CudaTeam(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers)
    : groups_(plan.mesh.replicate, plan.mesh.shard),
      ranks_(static_cast<std::size_t>(plan.mesh.world())),
      team_(plan.mesh.world(), [this] { groups_.close(); }) {
    team_.run([&](int rank) {
        DeviceRank who{.rank = rank};
        if (plan.mesh.world() > 1) who.staged = &groups_.of(rank);
        ranks_[static_cast<std::size_t>(rank)] = cuda::make_cuda_executor(model, plan, numbers, who);
    });
}

void CudaTeam::load(const WeightSource& source) {
    team_.run([&](int rank) { at(rank).load(source); });
}

StepResult CudaTeam::step(std::span<const std::int32_t> tokens) {
    std::vector<StepResult> results(ranks_.size());
    team_.run([&](int rank) { results[static_cast<std::size_t>(rank)] = at(rank).step(tokens); });
    return results.front();
}

std::vector<float> CudaTeam::read(TensorKind kind, const UnitTensor& tensor) {
    std::vector<std::vector<float>> values(ranks_.size(),
                                           std::vector<float>(static_cast<std::size_t>(tensor.slice.count)));
    team_.run([&](int rank) { at(rank).read(kind, tensor, values[static_cast<std::size_t>(rank)]); });
    return values.front();
}

}  // namespace wirewise::test
