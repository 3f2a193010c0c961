// PyTorch: a Hugging Face model under DDP, ZeroRedundancyOptimizer or FSDP2, as its host issues it, kernel by
// kernel.
#pragma once

#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

StepProgram lower_pytorch(const Transformer& model, const ParallelPlan& plan, Phase phase);

}  // namespace wirewise
