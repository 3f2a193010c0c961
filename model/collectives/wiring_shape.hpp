// When are two sets of GPUs wired alike? A name for the wiring of a set, the same under any renumbering of
// its GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

// Path class, NVLinks, rate and (for several servers) shared NICs of every pair of a server's GPUs, folded
// into small numbers once.
class PairLabels {
  public:
    explicit PairLabels(const Machine& machine);
    int gpus() const { return gpus_; }
    std::uint32_t label(int a, int b) const { return labels_[static_cast<std::size_t>(a * gpus_ + b)]; }
    bool uniform() const { return uniform_; }  // all GPUs and pairs alike: any subset is as good as any other
    std::uint32_t kind(int gpu) const { return labels_[static_cast<std::size_t>(gpu * gpus_ + gpu)]; }

  private:
    int gpus_ = 0;
    bool uniform_ = true;
    std::vector<std::uint32_t> labels_;
};

// Colours each GPU by its pairs, then by its neighbours' colours, a few rounds, and hashes the colours as a
// set. Sets alike get the same shape; different sets share one only where even their colour refinement
// agrees.
std::uint64_t shape_of(const PairLabels& labels, const std::vector<int>& gpus);

}  // namespace wirewise
