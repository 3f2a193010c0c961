// One rank of a run whose other ranks are other processes.
#pragma once

#include "executor/training/rank_group.hpp"

namespace wirewise {

struct ProcessRank {
    RankGroups& groups;  // what it does together with the others
    int rank = 0;
    int ranks_here = 1;  // that share this machine's memory
};

}  // namespace wirewise
