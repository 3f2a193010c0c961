// DeepSpeed's engines as ParameterPolicies over the eager modules of the PyTorch runtime.
#pragma once

#include "model/strategy/pytorch/policy.hpp"

namespace wirewise {

class DeepSpeedPolicy : public PytorchPolicy {
  public:
    virtual void save() = 0;
};

// Stage 0 (ddp; on one GPU: single), 1 (zero1) and 2 (zero2): whole 16-bit parameters in one flat buffer.
std::unique_ptr<DeepSpeedPolicy> make_zero_flat(PytorchContext& context);
// Stage 3 (fsdp).
std::unique_ptr<DeepSpeedPolicy> make_zero3(PytorchContext& context);

}  // namespace wirewise
