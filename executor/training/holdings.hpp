// Which part of each tensor lies where in the ranks' memories.
#pragma once

#include <optional>

#include "executor/training/unit_tensors.hpp"
#include "model/strategy/plan.hpp"

namespace wirewise {

// Elements [first, first + count) of a unit's flat buffer, from `offset` elements on in a buffer of one rank.
struct Holding {
    BufferId buffer{};
    std::int64_t offset = 0, first = 0, count = 0;
    DType dtype = DType::fp32;
};

class Holdings {
  public:
    Holdings(const StepProgram& program, const ModelLayout& layout, const ParallelPlan& plan)
        : program_(program), layout_(layout), plan_(plan) {}

    // A buffer of the unit (or, with the root, one of no layer) by its name; one shorter than the unit is a
    // share.
    std::optional<Holding> find(std::string_view buffer, Unit unit, int shard) const;
    // The reduced gradient that the rank updates with.
    Holding gradient(Unit unit, int shard) const;

  private:
    const StepProgram& program_;
    const ModelLayout& layout_;
    const ParallelPlan& plan_;
};

// A tensor's elements [first, first + count), which lie from element `at` on in the buffer.
struct Overlap {
    std::int64_t at = 0, first = 0, count = 0;
};
Overlap overlap_of(const Holding& held, Slice tensor);

}  // namespace wirewise
