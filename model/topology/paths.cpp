// Path classes, NVLink counts and islands: what nvidia-smi topo -m prints, read from the graph.
#include <algorithm>

#include "model/topology/routes.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

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
    return class_of_route(machine.graph, HostRoutes(machine, a).to(b));
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
    for (const LinkId link : HostRoutes(machine, a).to(b))
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
