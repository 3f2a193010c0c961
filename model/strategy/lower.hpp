// Lowers a plan to the StepProgram of one phase: once, for every interpreter.
#pragma once

#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

// Throws InputError when the runtime has no such strategy or the model has a part that is not modelled for
// training.
StepProgram lower(const Transformer& model, const ParallelPlan& plan, Phase phase);

}  // namespace wirewise
