// Path classes, NVLink counts and islands: what nvidia-smi topo -m prints, read from the graph.
#include <algorithm>
#include <limits>
#include <queue>

#include "model/topology/machine.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

bool is_island_link(const MachineLink& link) {
    return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
}

// The nodes from a to b over PCIe, host bridges, NUMA nodes and socket links, by fewest socket links, then
// fewest nodes; empty: none. GPUs and NICs carry nobody else's traffic.
std::vector<LinkId> host_path(const Machine& machine, NodeId a, NodeId b) {
    const MachineGraph& graph = machine.graph;
    constexpr int kSocketCost = 1000;
    const std::size_t nodes = boost::num_vertices(graph);
    std::vector<int> cost(nodes, std::numeric_limits<int>::max());
    std::vector<LinkId> arrived(nodes);
    using Entry = std::pair<int, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
    cost[a] = 0;
    frontier.emplace(0, a);
    while (!frontier.empty()) {
        const auto [at_cost, at] = frontier.top();
        frontier.pop();
        if (at == b) break;
        const NodeKind kind = graph[at].kind;
        if (at_cost > cost[at] || (at != a && (kind == NodeKind::gpu || kind == NodeKind::nic))) continue;
        for (auto [link, end] = boost::out_edges(at, graph); link != end; ++link) {
            if (is_island_link(graph[*link])) continue;
            const NodeId next = boost::target(*link, graph);
            const int next_cost = at_cost + (graph[*link].kind == LinkKind::socket ? kSocketCost : 1);
            if (next_cost >= cost[next]) continue;
            cost[next] = next_cost;
            arrived[next] = *link;
            frontier.emplace(next_cost, next);
        }
    }
    std::vector<LinkId> path;
    if (cost[b] == std::numeric_limits<int>::max()) return path;
    for (NodeId at = b; at != a; at = boost::source(arrived[at], graph)) path.push_back(arrived[at]);
    std::reverse(path.begin(), path.end());
    return path;
}

PathClass class_of(const MachineGraph& graph, const std::vector<LinkId>& path) {
    int switches = 0, bridges = 0, numas = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (graph[path[i]].kind == LinkKind::socket) return PathClass::sys;
        if (i == 0) continue;
        const NodeKind kind = graph[boost::source(path[i], graph)].kind;
        switches += kind == NodeKind::pcie_switch;
        bridges += kind == NodeKind::host_bridge;
        numas += kind == NodeKind::numa;
    }
    if (bridges > 1) return PathClass::node;
    if (bridges == 1 || numas > 0) return PathClass::phb;
    return switches > 1 ? PathClass::pxb : PathClass::pix;
}

// NVLinks from a straight to b, or through one switch that both hang from.
std::pair<int, BytesPerSecond> island_bundle(const MachineGraph& graph, NodeId a, NodeId b) {
    int count = 0;
    BytesPerSecond rate;
    for (auto [link, end] = boost::out_edges(a, graph); link != end; ++link) {
        if (!is_island_link(graph[*link])) continue;
        const NodeId next = boost::target(*link, graph);
        if (next == b) {
            count += graph[*link].count;
            rate += graph[*link].wire_rate;
        } else if (graph[next].kind == NodeKind::nvswitch) {
            if (const auto [second, found] = boost::edge(next, b, graph); found) {
                count += std::min(graph[*link].count, graph[second].count);
                rate += std::min(graph[*link].wire_rate, graph[second].wire_rate);
            }
        }
    }
    return {count, rate};
}

}  // namespace

PathClass path_class(const Machine& machine, NodeId a, NodeId b) {
    if (a == b) return PathClass::self;
    if (island_bundle(machine.graph, a, b).first > 0) return PathClass::nvlink;
    const std::vector<LinkId> path = host_path(machine, a, b);
    return path.empty() ? PathClass::none : class_of(machine.graph, path);
}

PathClass path_class_of_gpus(const Machine& machine, int gpu_a, int gpu_b) {
    if (machine.server_of(gpu_a) != machine.server_of(gpu_b)) return PathClass::network;
    return path_class(machine, machine.gpu(gpu_a).node, machine.gpu(gpu_b).node);
}

int nvlink_count(const Machine& machine, int gpu_a, int gpu_b) {
    if (gpu_a == gpu_b || machine.server_of(gpu_a) != machine.server_of(gpu_b)) return 0;
    return island_bundle(machine.graph, machine.gpu(gpu_a).node, machine.gpu(gpu_b).node).first;
}

BytesPerSecond path_rate(const Machine& machine, NodeId a, NodeId b) {
    const auto [count, rate] = island_bundle(machine.graph, a, b);
    if (count > 0) return rate;
    BytesPerSecond narrowest;
    for (const LinkId link : host_path(machine, a, b))
        if (narrowest.value() == 0 || machine.graph[link].wire_rate < narrowest)
            narrowest = machine.graph[link].wire_rate;
    return narrowest;
}

std::vector<std::vector<int>> islands(const Machine& machine) {
    const int count = machine.gpus_per_server();
    std::vector<int> island(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) island[static_cast<std::size_t>(i)] = i;
    for (int a = 0; a < count; ++a)
        for (int b = a + 1; b < count; ++b) {
            const int from = island[static_cast<std::size_t>(b)], to = island[static_cast<std::size_t>(a)];
            if (from != to && nvlink_count(machine, a, b) > 0)
                std::replace(island.begin(), island.end(), from, to);
        }
    std::vector<std::vector<int>> sets;
    std::vector<int> place(static_cast<std::size_t>(count), -1);
    for (int i = 0; i < count; ++i) {
        int& at = place[static_cast<std::size_t>(island[static_cast<std::size_t>(i)])];
        if (at < 0) at = static_cast<int>(sets.size()), sets.emplace_back();
        sets[static_cast<std::size_t>(at)].push_back(i);
    }
    return sets;
}

}  // namespace wirewise
