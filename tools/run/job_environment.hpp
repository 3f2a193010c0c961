// What a real job runs with: NCCL's variables, and CUDA's choice of GPUs. Ranks inherit both, so that what is
// decided once holds for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"
#include "tools/options/options.hpp"

namespace wirewise {

// Before CUDA is used: the variables of --nccl-env and the GPUs of --gpu-ids become this process's own, and
// CUDA counts GPUs as nvidia-smi does. Throws InputError.
void enter_job_environment(const MachineOptions& options);

// NCCL's variables of this process, as far as they decide about wires.
NcclEnvironment nccl_environment_here();

// The GPUs that CUDA_VISIBLE_DEVICES leaves, as nvidia-smi numbers them: CUDA's device 0 first. Nothing where
// it is not set or names GPUs otherwise ("GPU-8932f937-...", as Slurm and Kubernetes may).
std::optional<std::vector<int>> visible_gpus();
// For the ranks that will be started: the best placement of so many, where nobody has chosen. Throws
// InputError.
void choose_visible_gpus(const Machine& machine, int ranks);

// The GPUs of the machine that `ranks` ranks run on, in rank order. Throws InputError.
std::vector<int> gpus_of_job(const Machine& machine, int ranks);

}  // namespace wirewise
