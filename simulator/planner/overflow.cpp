#include "simulator/planner/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wirewise {

Overflow overflow_of(const Transformer& model, const ParallelPlan& plan, const PlanCandidate& candidate) {
    const Estimate& estimate = candidate.estimate;
    const Bytes short_by = std::max(Bytes(0), estimate.least_used() - candidate.limit);
    const FirstOverflow first = first_overflow(model, plan, candidate.limit - estimate.runtime.total());
    if (first.at.empty()) return {"fragmentation of the allocator's segments", estimate.peak.at, short_by};
    return {first.buffer, fmt::format("{}: {}", name_of(first.phase), first.at), short_by};
}

}  // namespace wirewise
