// Which buffer does not fit.
#pragma once

#include "simulator/planner/question.hpp"

namespace wirewise {

// The first buffer that does not fit, and how far the peak exceeds the limit (zero: it may
// still fit).
Overflow overflow_of(const Transformer& model, const ParallelPlan& plan, const PlanCandidate& candidate);

}  // namespace wirewise
