// Runs one rank's part of a plan on a GPU, exactly as the lowered program says: bind, warm up, load weights,
// then step after step.
#pragma once

#include "executor/training/device_module.hpp"

namespace wirewise::cuda {

// See DeviceModule::make.
std::unique_ptr<Executor> make_cuda_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, const DeviceRank& rank);

}  // namespace wirewise::cuda
