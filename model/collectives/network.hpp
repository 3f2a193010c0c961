// What a group gets of its servers' NICs and of the fabric behind them.
#pragma once

#include <vector>

#include "model/collectives/group_rates.hpp"

namespace wirewise {

struct NetworkShare {
    Limit limit;             // out of one server, one way
    double latency = 0;      // of one hop, seconds, beside NCCL's own
    double spine_share = 1;  // 1 / oversubscription once the group outgrows a leaf
    int channels = 2;
};

// The NICs a GPU may use alike: those at its best path class, as NCCL picks them. By index of the server's.
std::vector<std::size_t> nearest_nics(const Machine& machine, int gpu);

// One share per group of the view; groups that stay inside the server get none (rate 0).
std::vector<NetworkShare> network_shares(const Machine& machine, const NcclEnvironment& environment,
                                         const ServerView& view);

}  // namespace wirewise
