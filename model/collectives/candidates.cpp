// Formulas: NCCL's tuner (v2.30.7, src/graph/tuning.cc) with the rates of the wires in place of its planning
// rates, and two terms it lacks: the last receive of a ring, which nothing overlaps, and the fill of the NVLS
// pipeline.
#include "model/collectives/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace wirewise {
namespace {

constexpr double us = 1e-6;

// Steps of the ring algorithm: the buffer crosses a link `steps` / n times.
int ring_steps(CollectiveKind kind, int ranks) {
    return kind == CollectiveKind::all_reduce ? 2 * (ranks - 1) : ranks - 1;
}

Candidate named(Algorithm algorithm, Protocol protocol) {
    Candidate candidate;
    candidate.algorithm = algorithm;
    candidate.protocol = protocol;
    return candidate;
}

Limit narrower(const Limit& a, const Limit& b) {
    if (a.rate <= 0) return b;
    return b.rate > 0 && b.rate < a.rate ? b : a;
}

double hop_inside(const GroupRates& group, Algorithm algorithm, Protocol protocol) {
    const HopLatency hop = hop_latency(algorithm, protocol);
    double inside = group.over_nvlink ? hop.nvlink : hop.pcie;
    // Several servers: posting to the proxy costs at least its overhead in every step (NCCL: 1 us, 2 on AMD,
    // x 3 Simple).
    if (group.servers > 1) {
        const double overhead = (group.amd_host ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3 : 1);
        if (algorithm == Algorithm::ring) inside = std::max(inside, overhead);
    }
    return inside * us;
}

double hop_outside(const GroupRates& group, Algorithm algorithm, Protocol protocol) {
    const double rounds = protocol == Protocol::simple ? 2 : 1;
    return hop_latency(algorithm, protocol).network * us + rounds * group.network_latency;
}

double ramp(const GroupRates& group) {
    return group.over_nvlink ? limits_of(group.compute_capability).ramp : 0;
}

double kernel_start(const GroupRates& group) {
    return group.over_nvlink ? limits_of(group.compute_capability).kernel_start : 0;
}

double ring_latency(CollectiveKind kind, const GroupRates& group, Protocol protocol) {
    const int outside_per_pass = group.servers > 1 ? (group.servers - 1) : 0;
    const int passes = kind == CollectiveKind::all_reduce ? 2 : 1;
    const int steps = kind == CollectiveKind::broadcast ? 1 : ring_steps(kind, group.ranks);
    const int outside = std::min(steps, passes * outside_per_pass);
    return base_latency(Algorithm::ring, protocol) * us + kernel_start(group) +
           (steps - outside) * hop_inside(group, Algorithm::ring, protocol) +
           outside * hop_outside(group, Algorithm::ring, protocol);
}

double protocol_rate(const GroupRates& group, Protocol protocol, double wire) {
    const GenerationLimits& limits = limits_of(group.compute_capability);
    const int row = std::min(group.servers, 3) - 1;
    // LL: half of every word is a flag, and polling it costs as much again (NCCL's own share up to 2.7).
    if (protocol == Protocol::ll) return std::min(limits.ll_bytes_per_second[row], wire / 4);
    if (protocol == Protocol::ll128) return std::min(0.92 * wire, group.channels * limits.ll128_per_channel);
    return wire;
}

bool has_protocol(const GroupRates& group, Protocol protocol) {
    if (protocol != Protocol::ll128) return true;
    return (group.over_nvlink || group.local_ranks == 1) && group.network_ll128;
}

Candidate ring(CollectiveKind kind, const GroupRates& group, Protocol protocol) {
    const bool one_way = kind == CollectiveKind::broadcast;
    const Limit limit = narrower(group.servers > 1 || one_way ? group.chain : group.ring, group.network);
    const double traffic = one_way ? 1 : ring_steps(kind, group.ranks) / static_cast<double>(group.ranks);
    Candidate candidate = named(Algorithm::ring, protocol);
    candidate.latency = ring_latency(kind, group, protocol);
    candidate.seconds_per_byte = traffic / protocol_rate(group, protocol, limit.rate);
    if (protocol == Protocol::simple && !one_way) candidate.last_receive = group.last_receive / group.ranks;
    if (!one_way) candidate.ramp = ramp(group);
    candidate.link = limit.link;
    candidate.soft = limit.soft;
    return candidate;
}

// A double binary tree over servers, a chain within one. Between two servers each NIC carries S once each
// way; beyond, a server is inner node of one half tree and leaf of the other: twice.
Candidate tree(const GroupRates& group, Protocol protocol) {
    Limit network = group.network;
    if (group.servers == 2) network.rate *= 2;
    const Limit limit = narrower(group.ring, network);
    double rate = 0.92 * limit.rate;
    if (protocol == Protocol::ll)
        rate =
            std::min(rate / 3.8,
                     limits_of(group.compute_capability).ll_bytes_per_second[std::min(group.servers, 3) - 1]);
    if (protocol == Protocol::ll128) rate *= group.servers == 1 ? 7.0 / 9 : 120.0 / 128;
    Candidate candidate = named(Algorithm::tree, protocol);
    const double depth = group.servers > 1 ? std::floor(std::log2(group.servers)) : 0;
    candidate.latency = base_latency(Algorithm::tree, protocol) * us +
                        2 * ((group.local_ranks - 1) * hop_inside(group, Algorithm::tree, protocol) +
                             depth * hop_outside(group, Algorithm::tree, protocol));
    candidate.seconds_per_byte = 1 / (0.5 * rate);
    if (group.servers == 1) {
        candidate.latency += kernel_start(group);
        candidate.ramp = ramp(group);
    }
    candidate.link = limit.link;
    candidate.soft = limit.soft;
    return candidate;
}

// What both in-switch algorithms share: channels, and the pipeline they fill.
Candidate in_switch(Algorithm algorithm, const GroupRates& group) {
    const GenerationLimits& limits = limits_of(group.compute_capability);
    Candidate candidate = named(algorithm, Protocol::simple);
    candidate.latency = hop_latency(algorithm, Protocol::simple).nvlink * us;
    candidate.channels = limits.nvls_channels;
    candidate.fill = limits.nvls_channels * std::min<double>(group.local_ranks, 32);
    candidate.small_chunk_cost = limits.nvls_small_chunks;
    return candidate;
}

double switch_rate(const GroupRates& group) {
    const GenerationLimits& limits = limits_of(group.compute_capability);
    const bool rack = group.local_ranks > kBoardGpus;
    return group.switch_port.rate * (rack ? limits.nvls_rack_efficiency : limits.nvls_efficiency);
}

// The switch adds: a GPU's port carries (n + 1) / n of S each way.
Candidate nvls(const GroupRates& group) {
    const double n = group.ranks;
    Candidate candidate = in_switch(Algorithm::nvls, group);
    candidate.seconds_per_byte = (n + 1) / n / switch_rate(group);
    candidate.link = group.switch_port.link;
    return candidate;
}

// In-switch sums within servers, a tree between them.
Candidate nvls_tree(const GroupRates& group) {
    const double inside = switch_rate(group) / (1 + 1.0 / group.local_ranks);
    const double outside = group.servers == 2 ? group.network.rate : group.network.rate / 2;
    Candidate candidate = in_switch(Algorithm::nvls_tree, group);
    candidate.latency +=
        2 * std::floor(std::log2(group.servers)) * hop_outside(group, Algorithm::nvls_tree, Protocol::simple);
    candidate.seconds_per_byte = 1 / std::min(inside, outside);
    candidate.ramp = ramp(group);
    candidate.link = inside < outside ? group.switch_port.link : group.network.link;
    return candidate;
}

// Sends and receives in pairs: all_to_all, send_recv.
Candidate pairs(CollectiveKind kind, const GroupRates& group) {
    const double n = group.ranks, local = group.local_ranks;
    const bool exchange = kind == CollectiveKind::all_to_all;
    const Limit& inside = exchange ? group.exchange : group.shift;
    const double inside_traffic = exchange ? (local - 1) / n : 1;
    // all_to_all: every rank's far part through the server's NICs; send_recv: one rank's buffer through its
    // NICs.
    const double far_traffic = exchange ? local * (n - local) / n : local;
    const double network = exchange ? group.network.rate * group.spine_share : group.network.rate;
    const double near_cost = inside.rate > 0 ? inside_traffic / inside.rate : 0;
    const double far_cost = network > 0 ? far_traffic / network : 0;
    Candidate candidate = named(Algorithm::ring, Protocol::simple);
    candidate.latency = base_latency(Algorithm::ring, Protocol::simple) * us +
                        hop_inside(group, Algorithm::ring, Protocol::simple) +
                        (group.servers > 1 ? hop_outside(group, Algorithm::ring, Protocol::simple) : 0);
    candidate.seconds_per_byte = std::max(near_cost, far_cost);
    if (group.servers == 1) candidate.ramp = ramp(group);
    candidate.link = far_cost > near_cost ? group.network.link : inside.link;
    candidate.soft = far_cost > near_cost ? group.network.soft : inside.soft;
    return candidate;
}

bool switch_adds(const GroupRates& group, const NcclEnvironment& environment) {
    const GenerationLimits& limits = limits_of(group.compute_capability);
    if (!environment.nvls || group.switch_port.rate <= 0 || limits.nvls_efficiency <= 0) return false;
    if (group.servers > 1) return group.local_ranks > 2;
    const bool pinned = !environment.algorithms.empty();
    return group.ranks >= (pinned ? 3 : limits.nvls_least_ranks);
}

}  // namespace

// NVLS: two loops of channels x heads x chunk fill the pipeline; the chunk shrinks with the buffer (nvls.cc),
// and smaller chunks cost rate.
double Candidate::pipelined_seconds(double bytes) const {
    if (algorithm == Algorithm::tree)
        return latency + bytes * seconds_per_byte / tree_correction(protocol, bytes);
    if (fill <= 0) return latency + bytes * seconds_per_byte;
    constexpr double kFullChunk = 131072;
    double chunk = kFullChunk;
    if (bytes < 64 * fill * chunk) chunk = 65536;
    if (bytes < 8 * fill * chunk) chunk = 32768;
    if (bytes < 2 * fill * chunk) chunk = 16384;
    const double slower = 1 + small_chunk_cost * (kFullChunk / chunk - 1);
    return latency + (bytes + 2 * fill * chunk) * seconds_per_byte * slower;
}

double Candidate::seconds_of(double bytes) const {
    return pipelined_seconds(bytes) + last_receive * bytes + ramp * -std::expm1(-bytes / kRampBytes);
}

std::vector<Candidate> candidates_for(CollectiveKind kind, const GroupRates& rates,
                                      const NcclEnvironment& environment) {
    std::vector<Candidate> all;
    if (kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_recv) {
        all.push_back(pairs(kind, rates));
    } else {
        const auto allowed = [&](Algorithm algorithm, Protocol protocol) {
            return has_protocol(rates, protocol) && environment.allows(name_of(algorithm), name_of(protocol));
        };
        const bool sums = kind == CollectiveKind::all_reduce;
        for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
            if (allowed(Algorithm::ring, protocol)) all.push_back(ring(kind, rates, protocol));
            if (sums && allowed(Algorithm::tree, protocol)) all.push_back(tree(rates, protocol));
        }
        const bool in_switch = sums && switch_adds(rates, environment);
        if (in_switch && rates.servers == 1 && allowed(Algorithm::nvls, Protocol::simple))
            all.push_back(nvls(rates));
        if (in_switch && rates.servers > 1 && allowed(Algorithm::nvls_tree, Protocol::simple))
            all.push_back(nvls_tree(rates));
        // What is pinned does not exist for this operation (NCCL then falls back to the ring).
        if (all.empty()) all.push_back(ring(kind, rates, Protocol::simple));
    }
    for (Candidate& candidate : all)
        if (candidate.channels == 0) candidate.channels = rates.channels;
    return all;
}

}  // namespace wirewise
