// One rank's memory: the regions of the planned arena, each allocated once, and where each buffer lies in
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/program/walk.hpp"

namespace wirewise {

// What the arena of a plan decided: placements of the step's buffers and the size of each region.
struct ArenaPlan {
    std::vector<Placement> placements;  // by buffer of the step's program
    std::vector<Bytes> regions;
    MemoryPeak peak;
    Bytes total() const;
};
// Walks loading and a step.
ArenaPlan plan_arena(const StepProgram& load, const StepProgram& step);

class RankMemory {
  public:
    // Zeroed: the gaps between the tensors of a flat buffer must hold zeros, for they are summed and updated
    // too.
    explicit RankMemory(const ArenaPlan& plan);

    std::byte* at(BufferId buffer) const { return addresses_[index_of(buffer)]; }
    Bytes allocated() const { return allocated_; }

  private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::vector<std::unique_ptr<std::byte[], Free>> regions_;
    std::vector<std::byte*> addresses_;  // by buffer
    Bytes allocated_;
};

}  // namespace wirewise
