#include "model/topology/host_share.hpp"

#include <algorithm>
#include <map>

#include "model/topology/routes.hpp"

namespace wirewise {

namespace {

using Route = std::vector<LinkId>;

std::vector<Route> routes_to_memory(const Machine& machine, const std::vector<int>& gpus) {
    std::vector<Route> routes;
    for (const int gpu : gpus) {
        if (machine.server_of(gpu) != machine.server_of(gpus.front())) continue;
        const HostRoutes from(machine, machine.gpu(gpu).node);
        routes.push_back(from.has_numa() ? from.to(from.nearest_numa()) : Route{});
    }
    return routes;
}

BytesPerSecond slowest_share(const MachineGraph& graph, const std::vector<Route>& routes) {
    std::map<int, int> users;
    for (const Route& route : routes)
        for (const LinkId link : route) ++users[graph[link].id];
    BytesPerSecond slowest;
    for (const Route& route : routes)
        for (const LinkId link : route) {
            const bool wired = graph[link].kind == LinkKind::pcie || graph[link].kind == LinkKind::c2c;
            if (!wired) continue;
            const BytesPerSecond share = graph[link].wire_rate / static_cast<double>(users[graph[link].id]);
            if (slowest.value() == 0 || share < slowest) slowest = share;
        }
    return slowest;
}

BytesPerSecond memory_of(const MachineGraph& graph) {
    BytesPerSecond sum;
    for (auto [node, end] = boost::vertices(graph); node != end; ++node)
        if (graph[*node].kind == NodeKind::numa) sum += graph[*node].memory_rate;
    return sum;
}

}  // namespace

HostShare host_share(const Machine& machine, const std::vector<int>& gpus) {
    const std::vector<Route> routes = routes_to_memory(machine, gpus);
    const int ranks = std::max<int>(1, static_cast<int>(routes.size()));
    return {slowest_share(machine.graph, routes), memory_of(machine.graph) / static_cast<double>(ranks),
            ranks};
}

}  // namespace wirewise
