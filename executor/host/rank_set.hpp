// The ranks of a plan that live in this process, all of them or one: the program lowered and verified, memory
// planned, ops bound, threads waiting.
#pragma once

#include "executor/host/group.hpp"
#include "executor/host/process_rank.hpp"
#include "executor/host/rank.hpp"
#include "executor/host/rank_team.hpp"

namespace wirewise {

class RankSet {
  public:
    // All ranks, as threads. Throws InputError for a model or a plan that is priced but not computed. `model`
    // must outlive the set.
    RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers);
    // One rank; its groups must outlive the set.
    RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
            const ProcessRank& own);

    int world() const { return plan_.mesh.world(); }
    // The ranks here: [first, first + count).
    int first() const { return first_; }
    int count() const { return static_cast<int>(ranks_.size()); }
    bool holds(int rank) const { return rank >= first_ && rank < first_ + count(); }

    const Transformer& model() const { return model_; }
    const ParallelPlan& plan() const { return plan_; }
    const StepProgram& program() const { return program_; }
    const MemoryPlan& memory() const { return memory_; }
    Rank& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank - first_)]; }

    // On the thread of every rank here; see RankTeam.
    void run(const std::function<void(int)>& job) { team_.run(job); }

  private:
    RankSet(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
            const ProcessRank* own);
    RankGroups& groups_of(int rank) { return threads_ ? threads_->of(rank) : *groups_; }

    const Transformer& model_;
    const ParallelPlan plan_;
    const Hyperparameters numbers_;
    const StepProgram program_;
    const MemoryPlan memory_;
    const host::RopeTable rope_;
    const int first_;
    std::unique_ptr<ThreadGroups> threads_;  // where all ranks are here
    RankGroups* const groups_;               // where one is
    std::vector<std::unique_ptr<Rank>> ranks_;
    RankTeam team_;  // last: its threads end before what they use
};

}  // namespace wirewise
