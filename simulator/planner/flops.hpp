// Floating-point work that a program really does.
#pragma once

#include "model/program/program.hpp"

namespace wirewise {

// Matrix products 2 m n k; causal attention 2 (d_qk + d_v) per head and visible pair, backward twice that (the convention of
// model_flops_per_token, so that without recomputation HFU equals MFU).
Flops executed_flops(const StepProgram& program);

}  // namespace wirewise
