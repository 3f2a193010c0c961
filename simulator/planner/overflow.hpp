// Which buffer does not fit.
#pragma once

#include "simulator/planner/question.hpp"

namespace wirewise {

// The largest buffer that the op at the peak works on, and how far device use exceeds the limit (zero: it may
// still fit).
Overflow overflow_of(const Transformer& model, const ParallelPlan& plan, const PlanCandidate& candidate);

}  // namespace wirewise
