// ZeroRedundancyOptimizer's shares: largest parameter first, each to the rank that has least so far.
// Source: torch/distributed/optim/zero_redundancy_optimizer.py (2.11).
#pragma once

#include "model/strategy/pytorch/weights.hpp"

namespace wirewise {

// Each rank's weights in the order they were dealt.
std::vector<std::vector<WeightId>> zero1_shares(const WeightTable& weights, int ranks);
// The rank that has most: its memory decides.
std::size_t fullest_share(const WeightTable& weights, const std::vector<std::vector<WeightId>>& shares);

}  // namespace wirewise
