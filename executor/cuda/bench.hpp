// See DeviceModule: what one device costs, and what the kernels of a plan take on it.
#pragma once

#include "executor/training/device_module.hpp"

namespace wirewise::cuda {

DeviceCosts measure_device(int device);
std::vector<KernelTiming> measure_kernels(const Transformer& model, const ParallelPlan& plan, int device);
WireCosts measure_wires(const DeviceRank& rank, const std::function<void(const std::string&)>& progress);

}  // namespace wirewise::cuda
