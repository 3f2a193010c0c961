#include "model/collectives/link_load.hpp"

#include <algorithm>
#include <limits>

namespace wirewise {
namespace {

void put(LinkLoad& load, const Hop& hop, double bytes) {
    for (const LinkUse& use : hop.uses) load[static_cast<std::size_t>(use.link)] += bytes * use.wire_cost;
}

template <class Visit>
void each_hop(const GroupWires& wires, const RingPlan& plan, bool closing, Visit&& visit) {
    for (const std::vector<int>& order : plan.orders) {
        for (std::size_t i = 0; i + 1 < order.size(); ++i) visit(wires.hop(order[i], order[i + 1]));
        if (closing) visit(wires.hop(order.back(), order.front()));
    }
}

LinkLoad load_of(const GroupWires& wires, const RingPlan& plan, bool closing) {
    LinkLoad load(wires.wires().size(), 0.0);
    const double share = 1.0 / plan.channels();
    each_hop(wires, plan, closing, [&](const Hop& hop) { put(load, hop, share); });
    return load;
}

}  // namespace

LinkLoad ring_load(const GroupWires& wires, const RingPlan& plan) { return load_of(wires, plan, true); }
LinkLoad chain_load(const GroupWires& wires, const RingPlan& plan) { return load_of(wires, plan, false); }

LinkLoad shift_load(const GroupWires& wires) {
    LinkLoad load(wires.wires().size(), 0.0);
    for (int rank = 0; rank < wires.ranks(); ++rank)
        put(load, wires.hop(rank, (rank + 1) % wires.ranks()), 1);
    return load;
}

LinkLoad exchange_load(const GroupWires& wires) {
    LinkLoad load(wires.wires().size(), 0.0);
    const double share = 1.0 / (wires.ranks() - 1);
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (from != to) put(load, wires.hop(from, to), share);
    return load;
}

void add(LinkLoad& sum, const LinkLoad& more) {
    if (sum.empty()) sum.resize(more.size(), 0.0);
    for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

Narrowest narrowest(const std::vector<Wire>& wires, const LinkLoad& load) {
    Narrowest result{std::numeric_limits<double>::infinity(), -1};
    for (std::size_t i = 0; i < load.size(); ++i) {
        if (load[i] <= 0 || wires[i].wire <= 0) continue;
        const double rate = wires[i].wire / load[i];
        if (rate < result.rate) result = {rate, static_cast<int>(i)};
    }
    return result;
}

double last_receive_cost(const GroupWires& wires, const RingPlan& plan, const LinkLoad& load,
                         double local_copy_rate) {
    double slowest = 0;
    each_hop(wires, plan, true, [&](const Hop& hop) {
        if (hop.transport == Transport::p2p) {
            slowest = std::max(slowest, 1 / local_copy_rate);
            return;
        }
        for (std::size_t i = static_cast<std::size_t>(hop.staged_from); i < hop.uses.size(); ++i) {
            const auto link = static_cast<std::size_t>(hop.uses[i].link);
            slowest = std::max(slowest, load[link] / wires.wires()[link].wire);
        }
    });
    return slowest;
}

Transport slowest_transport(const GroupWires& wires, const RingPlan& plan) {
    Transport slowest = Transport::p2p;
    each_hop(wires, plan, true, [&](const Hop& hop) { slowest = std::max(slowest, hop.transport); });
    return slowest;
}

}  // namespace wirewise
