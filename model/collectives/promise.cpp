#include "model/collectives/promise.hpp"

#include <algorithm>
#include <limits>

#include "model/topology/disjoint_sets.hpp"

namespace wirewise {

Promise::Promise(const Machine& machine) : gpus_(machine.gpus_per_server()) {
    for (int a = 0; a < gpus_; ++a)
        for (int b = 0; b < gpus_; ++b)
            pairs_.push_back(
                a == b ? Pair{}
                       : Pair{nvlink_count(machine, a, b) > 0,
                              path_rate(machine, machine.gpu(a).node, machine.gpu(b).node).value()});
}

double Promise::of(const std::vector<int>& gpus) const {
    DisjointSets parts(gpus.size());
    double least = std::numeric_limits<double>::max();
    for (std::size_t a = 0; a < gpus.size(); ++a) {
        double over_links = 0;
        for (std::size_t b = 0; b < gpus.size(); ++b) {
            const Pair& way = pair(gpus[a], gpus[b]);
            if (a == b || !way.joined) continue;
            over_links += way.rate;
            parts.join(a, b);
        }
        if (over_links > 0) least = std::min(least, over_links);
    }
    for (std::size_t a = 0; a < gpus.size(); ++a)
        for (std::size_t b = 0; b < gpus.size(); ++b)
            if (!parts.together(a, b)) least = std::min(least, pair(gpus[a], gpus[b]).rate);
    return least;
}

}  // namespace wirewise
