// The order in which backward completes the weights' gradients: what DDP's rebuilt buckets follow.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

std::vector<WeightId> gradient_order(const PytorchContext& context);

}  // namespace wirewise
