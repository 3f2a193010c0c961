// What `run` computes; everything else is refused by name before anything is allocated.
#pragma once

#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

// Throws InputError.
void ensure_computed(const Transformer& model, const ParallelPlan& plan);

}  // namespace wirewise
