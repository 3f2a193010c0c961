#include "model/collectives/group_wires.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/collectives/permission.hpp"
#include "model/topology/link_rates.hpp"
#include "model/topology/routes.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

constexpr std::array<std::string_view, 3> kTransports{"p2p", "shm", "net"};

// One rank's TCP stack within a host. Plan: NCCL takes 10 Gb/s for an interface that does not say. Wire: the
// middle of two hosts, 3.7 (two H200 ranks, 2026-11, all-reduce, all-gather, reduce-scatter) and 5.4 GB/s
// (published A100 pair).
constexpr double kTcpPlan = 1.25e9, kTcpWire = 4.4e9;

// A read of 256 bytes is asked for by a packet of two flits, where its answer has 16 of data (NVLink 2).
constexpr double kReadRequests = 2.0 / 18;

HopType type_of(PathClass path) {
    switch (path) {
        case PathClass::nvlink:
            return HopType::nvlink;
        case PathClass::pix:
            return HopType::pix;
        case PathClass::pxb:
            return HopType::pxb;
        case PathClass::phb:
        case PathClass::node:
            return HopType::phb;
        case PathClass::sys:
            return HopType::sys;
        default:
            return HopType::none;
    }
}

bool is_intel(CpuKind cpu) { return cpu >= CpuKind::intel_broadwell && cpu <= CpuKind::intel_emerald_rapids; }

}  // namespace

std::string_view name_of(Transport transport) { return kTransports[static_cast<std::size_t>(transport)]; }

GroupWires::GroupWires(const Machine& machine, const NcclEnvironment& environment,
                       std::vector<int> local_gpus)
    : gpus_(std::move(local_gpus)), ways_(gpus_.size() * gpus_.size(), {Hop{}}) {
    int links = 0;
    for (auto [link, end] = boost::edges(machine.graph); link != end; ++link)
        links = std::max(links, machine.graph[*link].id + 1);
    first_memory_ = links;
    first_tcp_ = links + static_cast<int>(boost::num_vertices(machine.graph));
    wires_.resize(static_cast<std::size_t>(first_tcp_ + machine.gpus_per_server()));
    for (auto [link, end] = boost::edges(machine.graph); link != end; ++link) {
        const MachineLink& of = machine.graph[*link];
        Wire& wire = wires_[static_cast<std::size_t>(of.id)];
        wire.plan = of.plan_rate.value();
        wire.wire = of.wire_rate.value();
        wire.link = *link;
    }
    add_shared(machine);
    for (const int gpu : gpus_)
        one_link_ = std::max(one_link_, nvlink_rates(machine.gpu(gpu).model, 1).plan.value());
    if (!environment.p2p_disable && environment.p2p_level.value_or(PathClass::sys) != PathClass::self) {
        add_islands(machine);
        if (!full_switch_) add_relays();
    }
    if (!full_switch_) add_host_hops(machine, environment);
}

// Hops over NVLink or xGMI: straight, or over the switches both GPUs hang from (shares by bundle width).
void GroupWires::add_islands(const Machine& machine) {
    const MachineGraph& graph = machine.graph;
    bool all_switched = true;
    double narrowest = std::numeric_limits<double>::max(), widest = 0;
    const auto node_of = [&](int rank) { return machine.gpu(gpus_[static_cast<std::size_t>(rank)]).node; };
    for (int from = 0; from < ranks(); ++from) {
        for (int to = 0; to < ranks(); ++to) {
            if (from == to) continue;
            Hop& hop = at(from, to);
            std::vector<std::pair<int, int>> switched;  // the two links over each common switch
            for (auto [link, end] = boost::out_edges(node_of(from), graph); link != end; ++link) {
                if (!is_island_link(graph[*link])) continue;
                const NodeId next = boost::target(*link, graph);
                if (next == node_of(to)) hop.uses = {{graph[*link].id, 1, 1}};
                if (graph[next].kind != NodeKind::nvswitch) continue;
                if (const auto [down, found] = boost::edge(next, node_of(to), graph); found)
                    switched.emplace_back(graph[*link].id, graph[down].id);
            }
            all_switched &= hop.uses.empty() && !switched.empty();
            if (hop.uses.empty()) {
                double total = 0;
                for (const auto& [up, down] : switched) total += wires_[static_cast<std::size_t>(up)].plan;
                for (const auto& [up, down] : switched) {
                    const double share = wires_[static_cast<std::size_t>(up)].plan / total;
                    hop.uses.push_back({up, share, share});
                    hop.uses.push_back({down, share, share});
                }
            }
            if (hop.uses.empty()) continue;
            hop.type = HopType::nvlink;
            hop.plan_rate = plan_rate_of(hop);
            narrowest = std::min(narrowest, hop.plan_rate);
            widest = std::max(widest, hop.plan_rate);
        }
    }
    full_switch_ = ranks() > 1 && all_switched && narrowest >= widest * 0.999;
}

// NVB: two NVLink hops over one other GPU of the group. NCCL takes the widest such GPU; which one that is may
// hang on a link that does not matter otherwise, so all are offered and whoever plans takes the best.
void GroupWires::add_relays() {
    const auto joined = [&](int from, int to) { return from != to && at(from, to).type == HopType::nvlink; };
    for (int from = 0; from < ranks(); ++from)
        for (int to = 0; to < ranks(); ++to) {
            if (from == to || joined(from, to)) continue;
            std::vector<Hop> relays;
            for (int middle = 0; middle < ranks(); ++middle)
                if (joined(from, middle) && joined(middle, to)) relays.push_back(relayed(from, middle, to));
            if (!relays.empty()) ways_[static_cast<std::size_t>(from * ranks() + to)] = std::move(relays);
        }
}

// The buffer stands on the relay: the sender writes into it, the receiver reads from it, and its requests go
// against the data. NCCL chooses rings blind to them, so no choice of rings may escape them: they are counted
// both ways on both legs, as rings of both directions over that relay would meet them. (Five V100 of a DGX-1
// published: 37 GB/s; so counted 39, without 43.)
Hop GroupWires::relayed(int from, int middle, int to) {
    Hop hop;
    hop.type = HopType::relayed;
    const auto carry = [&](const Hop& leg, double plan, double wire) {
        for (const LinkUse& use : leg.uses)
            hop.uses.push_back({use.link, plan * use.plan_cost, wire * use.wire_cost});
    };
    carry(at(from, middle), 1, 1 + kReadRequests);
    carry(at(middle, to), 1, 1 + kReadRequests);
    carry(at(to, middle), 0, kReadRequests);
    carry(at(middle, from), 0, kReadRequests);
    hop.plan_rate = std::min(at(from, middle).plan_rate, at(middle, to).plan_rate);
    return hop;
}

// A peer's writes over PCIe. Through an Intel root complex they weigh 6/5 there.
Hop GroupWires::peer_hop(const Machine& machine, PathClass path, const std::vector<LinkId>& route) const {
    Hop hop;
    hop.transport = Transport::p2p;
    const double cost = is_intel(machine.cpu) && path >= PathClass::phb ? kIntelPeerOverhead : 1;
    for (const LinkId link : route) {
        const MachineLink& of = machine.graph[link];
        if (of.kind == LinkKind::root) continue;
        const double own = of.kind == LinkKind::pcie ? cost : 1;
        hop.uses.push_back({of.id, own, own});
    }
    return hop;
}

// Pairs that no NVLink joins: straight over PCIe, or up into host memory beside the sender, over the socket
// link, and down; TCP takes the same way and the stack on top.
void GroupWires::add_host_hops(const Machine& machine, const NcclEnvironment& environment) {
    std::vector<HostRoutes> routes;
    routes.reserve(gpus_.size());
    for (const int gpu : gpus_) routes.emplace_back(machine, machine.gpu(gpu).node);
    const auto staged = [&](Hop& hop, const std::vector<LinkId>& route) {
        for (const LinkId link : route) {
            const MachineLink& of = machine.graph[link];
            if (of.kind != LinkKind::root)
                hop.uses.push_back({of.id, 1, of.kind == LinkKind::pcie ? 1 / kStagedShareOfPcie : 1});
        }
    };
    for (int from = 0; from < ranks(); ++from) {
        const HostRoutes& of = routes[static_cast<std::size_t>(from)];
        for (int to = 0; to < ranks(); ++to) {
            if (from == to || at(from, to).type != HopType::none) continue;
            const NodeId target = machine.gpu(gpus_[static_cast<std::size_t>(to)]).node;
            const std::vector<LinkId> route = of.to(target);
            const PathClass path = class_of_route(machine.graph, route);
            const Transport transport =
                transport_between(machine, environment, gpus_[static_cast<std::size_t>(from)],
                                  gpus_[static_cast<std::size_t>(to)], path);
            Hop& hop = at(from, to);
            if (transport == Transport::p2p && path != PathClass::none) {
                hop = peer_hop(machine, path, route);
            } else if (const HostRoutes& other = routes[static_cast<std::size_t>(to)];
                       of.has_numa() && other.has_numa()) {
                hop.transport = transport;
                staged(hop, of.to(of.nearest_numa()));
                if (transport == Transport::net)
                    hop.uses.push_back({first_tcp_ + gpus_[static_cast<std::size_t>(from)], 1, 1});
                if (of.nearest_numa() != other.nearest_numa())
                    staged(hop, HostRoutes(machine, of.nearest_numa()).to(other.nearest_numa()));
                hop.uses.push_back({memory_wire(other.nearest_numa()), 0, 2});  // written, then read
                hop.staged_from = static_cast<int>(hop.uses.size());
                staged(hop, HostRoutes(machine, other.nearest_numa()).to(target));
            } else {
                continue;  // no wire at all: the pricer says so
            }
            // Staged traffic passes the CPU: NCCL plans it as PHB at best.
            hop.type = transport == Transport::p2p ? type_of(path)
                       : path == PathClass::sys    ? HopType::sys
                                                   : HopType::phb;
            hop.plan_rate = plan_rate_of(hop);
        }
    }
}

double GroupWires::plan_rate_of(const Hop& hop) const {
    double rate = std::numeric_limits<double>::max();
    for (const LinkUse& use : hop.uses)
        if (use.plan_cost > 0)
            rate = std::min(rate, wires_[static_cast<std::size_t>(use.link)].plan / use.plan_cost);
    return rate;
}

void GroupWires::add_shared(const Machine& machine) {
    for (auto [node, end] = boost::vertices(machine.graph); node != end; ++node) {
        Wire& wire = wires_[static_cast<std::size_t>(memory_wire(*node))];
        wire.plan = wire.wire = machine.graph[*node].memory_rate.value();
    }
    for (int gpu = 0; gpu < machine.gpus_per_server(); ++gpu) {
        Wire& wire = wires_[static_cast<std::size_t>(first_tcp_ + gpu)];
        wire.plan = kTcpPlan;
        wire.wire = kTcpWire;
    }
}

Narrowest GroupWires::switch_port() const {
    Narrowest port{std::numeric_limits<double>::max(), -1};
    for (const std::vector<Hop>& ways : ways_)
        for (const LinkUse& use : ways.front().uses) {
            const double rate = wires_[static_cast<std::size_t>(use.link)].wire / use.wire_cost;
            if (rate < port.rate) port = {rate, use.link};
        }
    return port;
}

bool GroupWires::is_socket_link(const Machine& machine, int wire) const {
    return wire < first_memory_ &&
           machine.graph[wires_[static_cast<std::size_t>(wire)].link].kind == LinkKind::socket;
}

std::string GroupWires::describe(const Machine& machine, int wire) const {
    const Wire& of = wires_[static_cast<std::size_t>(wire)];
    const std::string rate = to_text(BytesPerSecond(of.wire));
    if (wire >= first_tcp_) return fmt::format("TCP sockets of GPU{} ({})", wire - first_tcp_, rate);
    if (wire < first_memory_) return describe_link(machine, of.link);
    return fmt::format("host memory of {} ({})",
                       machine.graph[static_cast<NodeId>(wire - first_memory_)].name, rate);
}

}  // namespace wirewise
