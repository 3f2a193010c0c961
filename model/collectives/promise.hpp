// A quick guess at how fast a set of GPUs can be, to pick the sets worth a search of their rings.
#pragma once

#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

class Promise {
  public:
    explicit Promise(const Machine& machine);

    // Bytes per second: the least that a GPU has towards the others over NVLink, or, where NVLink does not
    // join them all, the slowest path between two parts. Not a bound: only its order is of use.
    double of(const std::vector<int>& gpus) const;

  private:
    struct Pair {
        bool joined = false;  // by NVLink, xGMI or a switch
        double rate = 0;
    };
    const Pair& pair(int a, int b) const { return pairs_[static_cast<std::size_t>(a * gpus_ + b)]; }

    int gpus_ = 0;
    std::vector<Pair> pairs_;
};

}  // namespace wirewise
