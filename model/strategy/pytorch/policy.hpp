// A ParameterPolicy that also owns the weights the tape reads and takes their gradients; with the program of
// loading.
#pragma once

#include <memory>

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class PytorchPolicy : public ParameterPolicy, public WeightOwner {
  public:
    // What construction and wrapping allocate, before the first step.
    virtual void load() = 0;
    // The root's post-forward where no backward follows.
    virtual void end_evaluation() {}
    // What this rank stores of the parameters.
    virtual std::vector<BufferId> stored_parameters() const = 0;
};

// One GPU.
std::unique_ptr<PytorchPolicy> make_single(PytorchContext& context);
// DistributedDataParallel, alone or with ZeroRedundancyOptimizer (zero1).
std::unique_ptr<PytorchPolicy> make_ddp(PytorchContext& context);
// fully_shard per layer and on the root: fsdp, fsdp_shard_grad_op, hsdp.
std::unique_ptr<PytorchPolicy> make_fsdp(PytorchContext& context);
// The same by FullyShardedDataParallel (FSDP1).
std::unique_ptr<PytorchPolicy> make_flat_fsdp(PytorchContext& context);

}  // namespace wirewise
