// Our own runtime: flat parameter buffers per unit, fused kernels, planned arenas, three streams and explicit
// waits.
#pragma once

#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

StepProgram lower_native(const Transformer& model, const ParallelPlan& plan, Phase phase);

}  // namespace wirewise
