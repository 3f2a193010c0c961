// One rank: its memory, its part of the batch, its ops bound to both, and when each of them ran.
#pragma once

#include <atomic>

#include "executor/host/before_op.hpp"
#include "executor/host/binding.hpp"
#include "model/program/memory_plan.hpp"
#include "model/program/timeline.hpp"

namespace wirewise {

class Rank {
  public:
    // The program is the last one of the memory plan.
    Rank(const StepProgram& program, const Transformer& model, const ParallelPlan& plan,
         const Hyperparameters& numbers, const host::RopeTable& rope, const MemoryPlan& memory,
         RankGroups& groups, int rank);
    Rank(const Rank&) = delete;  // its ops point into it
    Rank& operator=(const Rank&) = delete;

    // This rank's sequences of the step, row-major.
    void feed(std::span<const std::int32_t> tokens);
    // Runs every op in issue order. `step` counts from 1.
    void run(std::int64_t step, const BeforeOp& before_op);

    // For benchmarks: every op on its own.
    const std::vector<BoundOp>& ops() const { return ops_; }
    const RankMemory& memory() const { return memory_; }
    Bytes scratch_bytes() const { return bytes_of(static_cast<std::int64_t>(scratch_.size()), DType::fp32); }
    const Timeline& timeline() const { return timeline_; }
    // "step 3, backward, layer 1, down"; empty before the first step. Asked from any thread.
    std::string position() const;

  private:
    const StepProgram& program_;
    int rank_;
    std::int64_t sequence_;
    RankMemory memory_;
    std::vector<float> scratch_;
    BatchFeed feed_;
    std::int64_t step_ = 0;
    std::atomic<std::int64_t> step_at_{0};
    std::atomic<std::size_t> op_at_{0};
    std::vector<BoundOp> ops_;
    Timeline timeline_;
};

}  // namespace wirewise
