// All ranks of a plan in one process: the program lowered and verified, memory planned, ops bound, threads
// waiting.
#pragma once

#include "executor/host/rank.hpp"
#include "executor/host/rank_team.hpp"

namespace wirewise {

class RankSet {
  public:
    // Throws InputError for a model or a plan that is priced but not computed. `model` must outlive the set.
    RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers);

    int size() const { return plan_.mesh.world(); }
    const Transformer& model() const { return model_; }
    const ParallelPlan& plan() const { return plan_; }
    const StepProgram& program() const { return program_; }
    const MemoryPlan& memory() const { return memory_; }
    const Communicators& communicators() const { return communicators_; }
    Rank& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }

    // On every rank's thread; see RankTeam.
    void run(const std::function<void(int)>& job) { team_.run(job); }

  private:
    const Transformer& model_;
    const ParallelPlan plan_;
    const Hyperparameters numbers_;
    const StepProgram program_;
    const MemoryPlan memory_;
    const host::RopeTable rope_;
    Communicators communicators_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    RankTeam team_;  // last: its threads end before what they use
};

}  // namespace wirewise
