#include "model/topology/routes.hpp"

#include <algorithm>
#include <limits>

namespace wirewise {
namespace {

constexpr int kUnreached = std::numeric_limits<int>::max();
constexpr int kSocketCost = 1000;  // more than any route has nodes

}  // namespace

bool is_island_link(const MachineLink& link) {
    return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
}

// Dijkstra with the frontier as two plain lists: costs grow by 1 inside a NUMA node and by kSocketCost
// across.
HostRoutes::HostRoutes(const Machine& machine, NodeId from)
    : graph_(&machine.graph),
      from_(from),
      arrived_(boost::num_vertices(machine.graph)),
      cost_(boost::num_vertices(machine.graph), kUnreached) {
    std::vector<NodeId> near{from}, far;
    cost_[from] = 0;
    while (!near.empty()) {
        for (std::size_t i = 0; i < near.size(); ++i) {
            const NodeId at = near[i];
            const NodeKind kind = (*graph_)[at].kind;
            if (kind == NodeKind::numa && !has_numa_) nearest_numa_ = at, has_numa_ = true;
            if (at != from && (kind == NodeKind::gpu || kind == NodeKind::nic)) continue;
            for (auto [link, end] = boost::out_edges(at, *graph_); link != end; ++link) {
                const MachineLink& wire = (*graph_)[*link];
                if (is_island_link(wire)) continue;
                const NodeId next = boost::target(*link, *graph_);
                const bool socket = wire.kind == LinkKind::socket;
                const int cost = cost_[at] + (socket ? kSocketCost : 1);
                if (cost >= cost_[next]) continue;
                cost_[next] = cost;
                arrived_[next] = *link;
                (socket ? far : near).push_back(next);
            }
        }
        near.swap(far);
        far.clear();
    }
}

std::vector<LinkId> HostRoutes::to(NodeId node) const {
    std::vector<LinkId> route;
    if (cost_[node] == kUnreached) return route;
    for (NodeId at = node; at != from_; at = boost::source(arrived_[at], *graph_))
        route.push_back(arrived_[at]);
    std::reverse(route.begin(), route.end());
    return route;
}

PathClass class_of_route(const MachineGraph& graph, const std::vector<LinkId>& route) {
    if (route.empty()) return PathClass::none;
    int switches = 0, bridges = 0, numas = 0;
    for (std::size_t i = 0; i < route.size(); ++i) {
        if (graph[route[i]].kind == LinkKind::socket) return PathClass::sys;
        if (i == 0) continue;
        const NodeKind kind = graph[boost::source(route[i], graph)].kind;
        switches += kind == NodeKind::pcie_switch;
        bridges += kind == NodeKind::host_bridge;
        numas += kind == NodeKind::numa;
    }
    if (bridges > 1) return PathClass::node;
    if (bridges == 1 || numas > 0) return PathClass::phb;
    return switches > 1 ? PathClass::pxb : PathClass::pix;
}

}  // namespace wirewise
