// DDP's construction: rank 0's parameters are broadcast in flattened pieces of 250 MiB, two in flight.
// Source: torch/csrc/distributed/c10d/comm.cpp (broadcast_coalesced), torch/nn/parallel/distributed.py
// (2.11).
#pragma once

#include "model/strategy/pytorch/whole_weights.hpp"

namespace wirewise {

void broadcast_weights(PytorchContext& context, const WholeWeights& weights, StreamId communication);

}  // namespace wirewise
