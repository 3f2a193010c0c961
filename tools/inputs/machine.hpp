// From machine options to a machine and the GPUs chosen on it.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"
#include "tools/options/options.hpp"

namespace wirewise {

// Reads, edits and joins. Throws InputError. `warnings` gets repairs and doubts.
Machine machine_of(const MachineOptions& options, std::vector<std::string>& warnings);

NcclEnvironment environment_of(const MachineOptions& options, std::vector<std::string>& warnings);

// Every GPU used must be of one known kind: memory and times are per GPU.
void require_one_gpu_kind(const Machine& machine, const std::vector<int>& gpus);

// --gpu-ids: of each node, in rank order, all nodes. Empty when not given.
std::vector<int> named_gpus(const MachineOptions& options, const Machine& machine);

// --gpus, checked; all of a node when not given.
int gpus_per_node(const MachineOptions& options, const Machine& machine);

}  // namespace wirewise
