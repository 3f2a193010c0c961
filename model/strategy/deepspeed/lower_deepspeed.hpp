// DeepSpeed's realisation of a plan: the Hugging Face model in 16 bits, wrapped in the engine of the plan's
// ZeRO stage.
#pragma once

#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

StepProgram lower_deepspeed(const Transformer& model, const ParallelPlan& plan, Phase phase);

}  // namespace wirewise
