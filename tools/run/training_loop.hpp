// The steps of a run, one after the other, and what is saved on the way.
#pragma once

#include <vector>

#include "executor/training/executor.hpp"
#include "tools/interrupt.hpp"
#include "tools/run/run_inputs.hpp"

namespace wirewise {

// Throws Interrupted between two steps when there was a Ctrl-C; nothing is then saved.
std::vector<StepResult> train(Executor& executor, const RunInputs& inputs, const RunOptions& options,
                              const InterruptWatch& interrupt);

// Of the steps after the first, which warms up; of the first when there is no other.
Seconds median_step(const std::vector<StepResult>& steps);

}  // namespace wirewise
