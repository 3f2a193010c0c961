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

// The NICs a GPU may use alike: those at its best path class, as NCCL picks them.
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

double one_nic(const Machine& machine, const NcclEnvironment& environment, std::size_t nic) {
    const MachineNic& of = machine.nics[nic];
    const double line =
        machine.fabric.nic_rate.value() > 0 ? machine.fabric.nic_rate.value() : of.rate.value();
    double slot = line;
    for (auto [link, end] = boost::in_edges(of.node, machine.graph); link != end; ++link)
        slot = machine.graph[*link].wire_rate.value();
    const double rate = std::min(line * machine.fabric.efficiency, slot);
    return environment.ib_disable ? std::min(rate, kTcpPerNic) : rate;
}

// Fabrics that bring their own NICs: an equal part for every GPU.
double part_of_fabric(const Machine& machine, const LocalGroup& group) {
    const Fabric& fabric = machine.fabric;
    const double all = fabric.nics_per_server * fabric.nic_rate.value() * fabric.efficiency;
    return all * static_cast<double>(group.gpus.size()) / machine.gpus_per_server();
}

}  // namespace

std::vector<NetworkShare> network_shares(const Machine& machine, const NcclEnvironment& environment,
                                         const ServerView& view) {
    std::vector<NetworkShare> shares(view.size());
    if (std::none_of(view.begin(), view.end(), spans)) return shares;
    const Fabric& fabric = machine.fabric;
    const bool own_nics = fabric.nics_per_server > 0 && fabric.nic_rate.value() > 0;
    const Use use = own_nics ? Use{} : use_of_nics(machine, view);
    for (std::size_t i = 0; i < view.size(); ++i) {
        if (!spans(view[i])) continue;
        NetworkShare& share = shares[i];
        int nics = own_nics ? fabric.nics_per_server : 0;
        double rate = own_nics ? part_of_fabric(machine, view[i]) : 0;
        for (std::size_t nic = 0; !own_nics && nic < machine.nics.size(); ++nic) {
            const int own = use.by_group[i][nic];
            if (own == 0) continue;
            ++nics;
            rate += one_nic(machine, environment, nic) * own / use.total[nic];
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
            environment.ib_disable};
        share.latency = fabric.latency.value() + (environment.ib_disable ? kTcpHop : 0);
        share.channels = std::clamp(2 * nics, 2, 32);
    }
    return shares;
}

}  // namespace wirewise
