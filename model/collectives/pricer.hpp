// What a collective costs on the wires of a machine, for groups of GPUs that all run it at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"
#include "model/units/collective.hpp"

namespace wirewise {

struct CollectivePrice {
    Seconds seconds;
    BytesPerSecond algbw, busbw;
    BytesPerSecond bound_busbw;   // no algorithm on this graph can beat it (min-cut)
    std::string_view algorithm;   // NCCL's spelling: "Ring", "Tree", "NVLS"
    std::string_view protocol;    // "LL", "LL128", "Simple"
    std::string_view transport;   // "p2p", "shm", "net": the slowest hop's
    std::string_view bottleneck;  // the link that limits, for people
    int channels = 0;             // thread blocks a GPU gives to it
};

// Rings are searched once, at construction; price() is then cheap. `groups` hold indices of GPUs of the
// machine; the groups run the same collective at the same time and share links. The answer is the slowest
// group's.
class CollectivePricer {
  public:
    CollectivePricer(const Machine& machine, const NcclEnvironment& environment,
                     std::vector<std::vector<int>> groups);
    ~CollectivePricer();
    CollectivePricer(CollectivePricer&&) noexcept;
    CollectivePrice price(CollectiveKind kind, Bytes bytes) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wirewise
