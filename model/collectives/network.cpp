#include "model/collectives/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/topology/routes.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

// TCP through one interface: see kTcpWire in group_wires.cpp; its hop costs one kernel round more than a
// verb.
constexpr double kTcpPerNic = 4.4e9, kTcpHop = 20e-6;

bool spans(const LocalGroup& group) { return group.servers > 1; }

// How many GPUs of spanning groups use each NIC, and how many of them are this group's.
struct Use {
    std::vector<std::vector<int>> by_group;  // [group][nic]: GPUs
    std::vector<int> total;
};

Use use_of_nics(const Machine& machine, const ServerView& view) {
    Use use;
    use.total.assign(machine.nics.size(), 0);
    for (const LocalGroup& group : view) {
        auto& own = use.by_group.emplace_back(machine.nics.size(), 0);
        if (!spans(group)) continue;
        for (const int gpu : group.gpus)
            for (const std::size_t nic : nearest_nics(machine, gpu)) ++own[nic], ++use.total[nic];
    }
    return use;
}

double one_nic(const Machine& machine, std::size_t nic, bool by_tcp) {
    const MachineNic& of = machine.nics[nic];
    const double line =
        machine.fabric.nic_rate.value() > 0 ? machine.fabric.nic_rate.value() : of.rate.value();
    double slot = line;
    for (auto [link, end] = boost::in_edges(of.node, machine.graph); link != end; ++link)
        slot = machine.graph[*link].wire_rate.value();
    const double rate = std::min(line * machine.fabric.efficiency, slot);
    return by_tcp ? std::min(rate, kTcpPerNic) : rate;
}

// A machine that does not say its NICs gets the fabric's usual ones.
double part_of_fabric(const Machine& machine, const LocalGroup& group, bool by_tcp) {
    const Fabric& fabric = machine.fabric;
    const double one = fabric.nic_rate.value() * fabric.efficiency;
    return fabric.nics_per_gpu * static_cast<double>(group.gpus.size()) *
           (by_tcp ? std::min(one, kTcpPerNic) : one);
}

}  // namespace

std::vector<std::size_t> nearest_nics(const Machine& machine, int gpu) {
    const HostRoutes routes(machine, machine.gpu(gpu).node);
    PathClass best = PathClass::none;
    std::vector<std::size_t> nearest;
    for (std::size_t i = 0; i < machine.nics.size(); ++i) {
        const PathClass path = class_of_route(machine.graph, routes.to(machine.nics[i].node));
        if (path < best) best = path, nearest.clear();
        if (path == best) nearest.push_back(i);
    }
    return nearest;
}

std::vector<NetworkShare> network_shares(const Machine& machine, const NcclEnvironment& environment,
                                         const ServerView& view) {
    std::vector<NetworkShare> shares(view.size());
    if (std::none_of(view.begin(), view.end(), spans)) return shares;
    const Fabric& fabric = machine.fabric;
    const bool by_tcp = environment.ib_disable || fabric.sockets;
    const bool assumed = machine.nics.empty();
    const Use use = use_of_nics(machine, view);
    for (std::size_t i = 0; i < view.size(); ++i) {
        if (!spans(view[i])) continue;
        NetworkShare& share = shares[i];
        double nics = assumed ? fabric.nics_per_gpu * static_cast<double>(view[i].gpus.size()) : 0;
        double rate = assumed ? part_of_fabric(machine, view[i], by_tcp) : 0;
        for (std::size_t nic = 0; nic < machine.nics.size(); ++nic) {
            const int own = use.by_group[i][nic];
            if (own == 0) continue;
            ++nics;
            rate += one_nic(machine, nic, by_tcp) * own / use.total[nic];
        }
        if (view[i].servers > fabric.servers_per_leaf) {
            // A ring or tree crosses a leaf's uplinks about once per leaf; only a wild oversubscription binds
            // it.
            share.spine_share = 1 / std::max(1.0, fabric.oversubscription);
            rate *= std::min(1.0, fabric.servers_per_leaf * share.spine_share);
        }
        share.limit = {
            rate,
            fmt::format("{} NIC{} into {} ({})", nics, nics == 1 ? "" : "s",
                        fabric.name.empty() ? "the network" : fabric.name, to_text(BytesPerSecond(rate))),
            by_tcp};
        share.latency = fabric.latency.value() + (by_tcp ? kTcpHop : 0);
        share.channels = std::clamp(2 * static_cast<int>(nics), 2, 32);
    }
    return shares;
}

}  // namespace wirewise
