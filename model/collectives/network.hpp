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

// One share per group of the view; groups that stay inside the server get none (rate 0).
std::vector<NetworkShare> network_shares(const Machine& machine, const NcclEnvironment& environment,
                                         const ServerView& view);

}  // namespace wirewise
