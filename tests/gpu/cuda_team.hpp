// Every rank of a plan as a thread, all on one GPU, with collectives through host memory: what a strategy
// computes on CUDA is tested wherever there is one GPU.
#pragma once

#include <memory>
#include <vector>

#include "executor/cuda/cuda_executor.hpp"
#include "executor/host/group.hpp"
#include "executor/host/rank_team.hpp"

namespace wirewise::test {

class CudaTeam {
  public:
    CudaTeam(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers);

    Executor& first() { return *ranks_.front(); }
    void load(const WeightSource& source);
    StepResult step(std::span<const std::int32_t> tokens);
    std::vector<float> read(TensorKind kind, const UnitTensor& tensor);

  private:
    Executor& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
    ThreadGroups groups_;
    std::vector<std::unique_ptr<Executor>> ranks_;
    RankTeam team_;
};

}  // namespace wirewise::test
