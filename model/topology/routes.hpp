// Routes over PCIe, host bridges, NUMA nodes and socket links: what traffic takes when NVLink does not carry
// it.
#pragma once

#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

// The best host route from one node to every other: fewest socket links, then fewest nodes. GPUs and NICs
// carry nobody else's traffic.
class HostRoutes {
  public:
    HostRoutes(const Machine& machine, NodeId from);

    std::vector<LinkId> to(NodeId node) const;  // empty: no route
    NodeId nearest_numa() const { return nearest_numa_; }
    bool has_numa() const { return has_numa_; }

  private:
    const MachineGraph* graph_;
    NodeId from_;
    std::vector<LinkId> arrived_;
    std::vector<int> cost_;
    NodeId nearest_numa_{};
    bool has_numa_ = false;
};

PathClass class_of_route(const MachineGraph& graph, const std::vector<LinkId>& route);
bool is_island_link(const MachineLink& link);  // NVLink or xGMI

}  // namespace wirewise
