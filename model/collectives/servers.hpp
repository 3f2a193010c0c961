// Groups of a cluster, seen from one server: which of its GPUs each group uses. Servers that look alike are
// kept once, so that thousands of them cost no more than two.
#pragma once

#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

struct LocalGroup {
    std::vector<int> gpus;  // of this server, in rank order
    int ranks = 0;          // of the whole group
    int servers = 1;        // it spans
    bool operator==(const LocalGroup&) const = default;
};

using ServerView = std::vector<LocalGroup>;

// One view per kind of server that the groups make. Throws InputError for a GPU that the machine lacks, or
// one that stands in a group twice.
std::vector<ServerView> views_of_servers(const Machine& machine, const std::vector<std::vector<int>>& groups);

}  // namespace wirewise
