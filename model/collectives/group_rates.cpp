#include "model/collectives/group_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/collectives/link_load.hpp"
#include "model/collectives/network.hpp"
#include "model/collectives/tuning.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

constexpr double kUnknownCapability = 8.0;
constexpr double kUnknownMemory = 1500e9;

struct Planned {
    GroupWires wires;
    RingPlan rings;
    double capability, memory_rate;
    int channels;
};

double least_over_gpus(const Machine& machine, const std::vector<int>& gpus, double unknown,
                       double (*figure)(const GpuModel&)) {
    double least = std::numeric_limits<double>::max();
    for (const int gpu : gpus) {
        const GpuModel* model = machine.gpu(gpu).model;
        least = std::min(least, model != nullptr ? figure(*model) : unknown);
    }
    return least;
}

// The search's channels are doubled when each is fast, and once more when rings are connected (NCCL search.cc
// and connect.cc); the environment may cap or raise them. At least four count: of one ring found where there
// were two slower ones NCCL makes two channels, yet pairs that have two (V100 on one NVLink, published 22.5
// GB/s) show no longer last receive than others.
int thread_blocks(const RingPlan& rings, double capability, const NcclEnvironment& environment) {
    int channels = rings.channels;
    const bool many_slow = capability > 8 && rings.speed < 50e9 && channels > 4;
    if (rings.speed >= 25e9 && !many_slow) channels = std::min(2 * channels, 32);
    channels = std::min(2 * channels, 64);
    if (channels > 0) channels = std::max(channels, 4);
    if (environment.min_channels) channels = std::max(channels, *environment.min_channels);
    if (environment.max_channels) channels = std::min(channels, *environment.max_channels);
    return channels;
}

Planned plan_group(const Machine& machine, const NcclEnvironment& environment, const LocalGroup& group) {
    const double capability = least_over_gpus(machine, group.gpus, kUnknownCapability,
                                              [](const GpuModel& gpu) { return gpu.compute_capability; });
    const double memory = least_over_gpus(machine, group.gpus, kUnknownMemory,
                                          [](const GpuModel& gpu) { return gpu.memory_bandwidth.value(); });
    GroupWires wires(machine, environment, group.gpus);
    RingPlan rings = search_rings(wires, capability);
    const int channels = thread_blocks(rings, capability, environment);
    return {std::move(wires), std::move(rings), capability, memory, channels};
}

bool is_soft(const Machine& machine, const GroupWires& wires, int wire, Transport transport) {
    if (transport != Transport::p2p) return true;
    return wires.is_socket_link(machine, wire);
}

Limit limit_of(const Machine& machine, const Planned& group, const LinkLoad& load, Transport transport) {
    const Narrowest narrow = narrowest(group.wires.wires(), load);
    if (narrow.wire < 0) return {};
    Limit limit{narrow.rate, group.wires.describe(machine, narrow.wire),
                is_soft(machine, group.wires, narrow.wire, transport)};
    if (const double blocks = group.channels * kChannelRate; blocks < limit.rate)
        limit = {blocks,
                 fmt::format("{} NCCL channels ({})", group.channels, to_text(BytesPerSecond(blocks))),
                 false};
    return limit;
}

Limit switch_port_of(const Machine& machine, const GroupWires& wires) {
    const Narrowest port = wires.switch_port();
    return {port.rate, wires.describe(machine, port.wire), false};
}

std::string common_gpu(const Machine& machine, const std::vector<int>& gpus) {
    const GpuModel* model = machine.gpu(gpus.front()).model;
    const bool alike =
        std::all_of(gpus.begin(), gpus.end(), [&](int gpu) { return machine.gpu(gpu).model == model; });
    return alike && model != nullptr ? model->name : "";
}

std::string common_path(const Machine& machine, const std::vector<int>& gpus) {
    const int links = nvlink_count(machine, gpus[0], gpus[1]);
    for (std::size_t a = 0; a < gpus.size(); ++a)
        for (std::size_t b = a + 1; b < gpus.size(); ++b)
            if (nvlink_count(machine, gpus[a], gpus[b]) != links) return {};
    return links > 0 ? fmt::format("NV{}", links) : "";
}

void check_connected(const Machine& machine, const GroupWires& wires) {
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (from != to && wires.hop(from, to).type == HopType::none)
                throw InputError(
                    machine.name,
                    fmt::format("nothing joins GPU{} and GPU{}", wires.gpus()[static_cast<std::size_t>(from)],
                                wires.gpus()[static_cast<std::size_t>(to)]),
                    "give the machine a PCIe path between them");
}

}  // namespace

std::vector<GroupRates> rates_of_groups(const Machine& machine, const NcclEnvironment& environment,
                                        const ServerView& view) {
    std::vector<Planned> planned;
    LinkLoad ring, chain, shift, exchange;  // of all groups together: they share the links
    for (const LocalGroup& group : view) {
        planned.push_back(plan_group(machine, environment, group));
        const Planned& plan = planned.back();
        check_connected(machine, plan.wires);
        if (plan.wires.ranks() < 2) continue;
        add(ring, tour_load(plan.wires, plan.rings.rings, Tour::ring));
        add(chain, tour_load(plan.wires, plan.rings.chains, Tour::chain));
        add(shift, shift_load(plan.wires));
        add(exchange, exchange_load(plan.wires));
    }
    const std::vector<NetworkShare> network = network_shares(machine, environment, view);
    std::vector<GroupRates> all;
    for (std::size_t i = 0; i < view.size(); ++i) {
        const Planned& plan = planned[i];
        GroupRates rates;
        rates.ranks = view[i].ranks;
        rates.servers = view[i].servers;
        rates.local_ranks = static_cast<int>(view[i].gpus.size());
        rates.compute_capability = plan.capability;
        rates.amd_host = machine.cpu == CpuKind::amd_epyc;
        rates.channels = plan.channels;
        Transport transport = Transport::p2p;
        if (rates.local_ranks > 1) {
            transport = slowest_transport(plan.wires, plan.rings.rings);
            rates.ring = limit_of(machine, plan, ring, transport);
            rates.chain = limit_of(machine, plan, chain, transport);
            rates.shift = limit_of(machine, plan, shift, transport);
            rates.exchange = limit_of(machine, plan, exchange, transport);
            const double copy = std::min(plan.channels * kLocalCopyPerChannel, plan.memory_rate / 2);
            rates.last_receive = last_receive_cost(plan.wires, plan.rings.rings, ring, copy);
            rates.over_nvlink = plan.rings.farthest <= HopType::relayed;
            if (plan.wires.full_switch()) rates.switch_port = switch_port_of(machine, plan.wires);
            rates.gpu = common_gpu(machine, view[i].gpus);
            rates.path = common_path(machine, view[i].gpus);
            rates.cuts = cuts_between(machine, view[i].gpus);
        }
        if (rates.servers > 1) {
            rates.network = network[i].limit;
            rates.network_latency = network[i].latency;
            rates.network_ll128 = machine.fabric.ll128 && !machine.fabric.sockets;
            rates.spine_share = network[i].spine_share;
            transport = Transport::net;
            if (rates.local_ranks == 1) rates.channels = std::max(rates.channels, network[i].channels);
        }
        rates.transport = transport;
        rates.transport_name = name_of(transport);
        all.push_back(std::move(rates));
    }
    return all;
}

}  // namespace wirewise
