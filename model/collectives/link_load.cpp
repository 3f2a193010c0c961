#include "model/collectives/link_load.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "model/collectives/wire_rows.hpp"

namespace wirewise {
namespace {

void put(LinkLoad& load, const Hop& hop, double bytes) {
    for (const LinkUse& use : hop.uses) load[static_cast<std::size_t>(use.link)] += bytes * use.wire_cost;
}

template <class Visit>
void each_hop(const GroupWires& wires, const Ring& ring, Tour tour, Visit&& visit) {
    const std::size_t hops = ring.order.size() - (tour == Tour::chain ? 1 : 0);
    for (std::size_t i = 0; i < hops; ++i) {
        const auto& ways = wires.ways(ring.order[i], ring.order[(i + 1) % ring.order.size()]);
        visit(ways[ring.ways.empty() ? 0 : static_cast<std::size_t>(ring.ways[i])]);
    }
}

bool relays(const GroupWires& wires) {
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (wires.ways(from, to).size() > 1) return true;
    return false;
}

// Fixed bytes from rank to rank, over relays so that the wires carry the most of it.
LinkLoad pairs_load(const GroupWires& wires, const std::vector<std::pair<int, int>>& pairs, double bytes) {
    LinkLoad load(wires.wires().size(), 0.0);
    const auto over = [&](const std::vector<int>& ways, double share) {
        for (std::size_t i = 0; i < pairs.size(); ++i)
            put(load, wires.ways(pairs[i].first, pairs[i].second)[static_cast<std::size_t>(ways[i])],
                share * bytes);
    };
    if (!relays(wires)) {
        over(std::vector<int>(pairs.size(), 0), 1);
        return load;
    }
    const WireRows rows(wires, HopType::sys);
    std::vector<std::vector<int>> choices;
    const auto cheapest = [&](const std::vector<double>& prices, double limit) {
        Column column(rows.size(), 0.0);
        std::vector<int> ways;
        double cost = 0;
        for (const auto& [from, to] : pairs) {
            const CheapestWay best = rows.cheapest(from, to, prices);
            cost += bytes * best.cost;
            ways.push_back(best.way);
            rows.put(column, from, to, best.way, bytes);
        }
        if (cost >= limit) return Column{};
        choices.push_back(std::move(ways));
        return column;
    };
    const std::vector<double> amounts = pack(rows.size(), cheapest);
    const double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
    for (std::size_t i = 0; i < amounts.size(); ++i)
        if (amounts[i] > 0) over(choices[i], amounts[i] / sum);
    return load;
}

}  // namespace

LinkLoad tour_load(const GroupWires& wires, const std::vector<Ring>& tours, Tour tour) {
    LinkLoad load(wires.wires().size(), 0.0);
    for (const Ring& one : tours)
        each_hop(wires, one, tour, [&](const Hop& hop) { put(load, hop, one.share); });
    return load;
}

double planned_rate(const GroupWires& wires, const std::vector<Ring>& rings) {
    LinkLoad load(wires.wires().size(), 0.0);
    for (const Ring& ring : rings)
        each_hop(wires, ring, Tour::ring, [&](const Hop& hop) {
            for (const LinkUse& use : hop.uses)
                load[static_cast<std::size_t>(use.link)] += ring.share * use.plan_cost;
        });
    double rate = std::numeric_limits<double>::infinity();
    for (std::size_t wire = 0; wire < load.size(); ++wire)
        if (load[wire] > 0 && wires.wires()[wire].plan > 0)
            rate = std::min(rate, wires.wires()[wire].plan / load[wire]);
    return rate;
}

LinkLoad shift_load(const GroupWires& wires) {
    std::vector<std::pair<int, int>> pairs;
    for (int rank = 0; rank < wires.ranks(); ++rank) pairs.emplace_back(rank, (rank + 1) % wires.ranks());
    return pairs_load(wires, pairs, 1);
}

LinkLoad exchange_load(const GroupWires& wires) {
    std::vector<std::pair<int, int>> pairs;
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (from != to) pairs.emplace_back(from, to);
    return pairs_load(wires, pairs, 1.0 / (wires.ranks() - 1));
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

double last_receive_cost(const GroupWires& wires, const std::vector<Ring>& rings, const LinkLoad& load,
                         double local_copy_rate) {
    double slowest = 0;
    const double ring_rate = narrowest(wires.wires(), load).rate;
    const auto visit = [&](const Hop& hop) {
        if (hop.transport == Transport::p2p) {
            slowest = std::max(slowest, 1 / local_copy_rate);
            return;
        }
        for (std::size_t i = static_cast<std::size_t>(hop.staged_from); i < hop.uses.size(); ++i) {
            const auto link = static_cast<std::size_t>(hop.uses[i].link);
            const double whole = std::max(load[link], hop.uses[i].wire_cost);
            slowest = std::max(slowest, std::min(whole / wires.wires()[link].wire, 1 / ring_rate));
        }
    };
    for (const Ring& ring : rings) each_hop(wires, ring, Tour::ring, visit);
    return slowest;
}

Transport slowest_transport(const GroupWires& wires, const std::vector<Ring>& rings) {
    Transport slowest = Transport::p2p;
    for (const Ring& ring : rings)
        each_hop(wires, ring, Tour::ring,
                 [&](const Hop& hop) { slowest = std::max(slowest, hop.transport); });
    return slowest;
}

}  // namespace wirewise
