// What a collective costs on the wires of a machine, for groups of GPUs that all run it at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/collectives/nccl_environment.hpp"
#include "model/topology/machine.hpp"
#include "model/units/collective.hpp"

namespace wirewise {

class CollectiveSamples;
struct WireName;

// The views live as long as the pricer that gave them.
struct CollectivePrice {
    Seconds seconds;
    BytesPerSecond algbw, busbw;
    // The wiring only bounds some paths (host-memory staging, sockets, links between NUMA nodes): busbw is
    // then the middle of this range. At most 2.5 between its ends.
    BytesPerSecond busbw_low, busbw_high;
    BytesPerSecond bound_busbw;   // no algorithm on this graph can beat it (min-cut)
    std::string_view algorithm;   // NCCL's spelling: "Ring", "Tree", "NVLS", "NVLSTree"
    std::string_view protocol;    // "LL", "LL128", "Simple"
    std::string_view transport;   // "p2p", "shm", "net": the slowest hop's
    std::string_view bottleneck;  // the link that limits, for people
    int channels = 0;             // thread blocks a GPU gives to it
    bool measured = false;        // read off samples of this very wiring, not off the wires
};

// Rings are searched once, at construction; price() is then cheap. `groups` hold indices of GPUs of the
// machine; the groups run the same collective at the same time and share links. The answer is the slowest
// group's. Throws InputError for GPUs that are not there or that nothing joins.
class CollectivePricer {
  public:
    // `samples` (may be null) must outlive the pricer: where they were taken on such wires, they replace the
    // formulas.
    CollectivePricer(const Machine& machine, const NcclEnvironment& environment,
                     std::vector<std::vector<int>> groups, const CollectiveSamples* samples = nullptr);
    ~CollectivePricer();
    CollectivePricer(CollectivePricer&&) noexcept;
    CollectivePricer& operator=(CollectivePricer&&) noexcept;

    CollectivePrice price(CollectiveKind kind, Bytes bytes) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// The wires that a collective over these GPUs runs on, as samples name them. Nothing where samples speak for
// no wires: several servers, GPUs of several kinds, algorithms or channels pinned by the environment.
std::optional<WireName> sampled_wire(const Machine& machine, const NcclEnvironment& environment,
                                     const std::vector<int>& gpus);

}  // namespace wirewise
