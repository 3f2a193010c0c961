// NCCL grows rings rank by rank at the speeds of a ladder, and stops by rules (v2.30.7, src/graph/search.cc,
// ncclTopoCompute, read 2026-11). On wiring that people build it ends near the most that rings can carry, but
// a walk like that may be led astray by a wider link. Here the most itself is found, as a linear program over
// all rings, so that a wider link does not cost (as far as cheapest_tour finds the rings). Of NCCL's rules
// those stay that shape the answer: which path types are used, and how many channels at which step of the
// ladder.
#include "model/collectives/ring_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/collectives/link_load.hpp"
#include "model/collectives/wire_rows.hpp"

namespace wirewise {
namespace {

constexpr int kMostChannels = 32;  // NCCL: MAXCHANNELS / 2
constexpr int kLargeGroup = 64;    // ranks that fit a set of visited ones
constexpr double kRounding = 1e-9;

std::vector<double> gigabytes(std::vector<double> ladder) {
    for (double& speed : ladder) speed *= 1e9;
    return ladder;
}

std::vector<int> given_order(int ranks) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// A ring through all ranks on hops of that type and nearer, each alone at least that fast?
bool ring_exists(const GroupWires& wires, HopType farthest, double speed = 0) {
    const int ranks = wires.ranks();
    std::vector<double> cost(static_cast<std::size_t>(ranks * ranks),
                             std::numeric_limits<double>::infinity());
    for (int from = 0; from < ranks; ++from)
        for (int to = 0; to < ranks; ++to)
            for (const Hop& hop : wires.ways(from, to))
                if (from != to && hop.type <= farthest && hop.plan_rate >= speed)
                    cost[static_cast<std::size_t>(from * ranks + to)] = 0;
    return !cheapest_tour(cost, ranks, Tour::ring).empty();
}

// NCCL relaxes path types from near to far at one speed before it tries the next lower. So the nearest type
// on which any ring runs is used, but for relays also where they make a ring faster than single links are: it
// is found before the direct one.
HopType farthest_type(const GroupWires& wires) {
    constexpr double kMoreThanOne = 1.5;
    const bool wide = ring_exists(wires, HopType::relayed, kMoreThanOne * wires.one_link());
    if (!wide && ring_exists(wires, HopType::nvlink)) return HopType::nvlink;
    return wide || ring_exists(wires, HopType::relayed) ? HopType::relayed : HopType::sys;
}

std::vector<Ring> most_tours(const GroupWires& wires, const WireRows& rows, Tour tour) {
    std::vector<Ring> tours;
    const auto cheapest = [&](const std::vector<double>& prices, double limit) {
        Ring found{cheapest_tour(rows.cheapest_of_pairs(prices), wires.ranks(), tour, limit), 0, {}};
        if (found.order.empty()) return Column{};
        Column column(rows.size(), 0.0);
        const std::size_t hops = found.order.size() - (tour == Tour::chain ? 1 : 0);
        for (std::size_t i = 0; i < hops; ++i) {
            const int from = found.order[i], to = found.order[(i + 1) % found.order.size()];
            found.ways.push_back(rows.cheapest(from, to, prices).way);
            rows.put(column, from, to, found.ways.back(), 1);
        }
        tours.push_back(std::move(found));
        return column;
    };
    const std::vector<double> amounts = pack(rows.size(), cheapest);
    const double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
    if (!(sum > 0)) return {};  // no wire whose rate is known
    for (std::size_t i = 0; i < amounts.size(); ++i) tours[i].share = amounts[i] / sum;
    std::erase_if(tours, [](const Ring& one) { return one.share < kRounding; });
    return tours;
}

double widest_hop(const GroupWires& wires, HopType farthest) {
    double widest = 0;
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            for (const Hop& hop : wires.ways(from, to))
                if (from != to && hop.type <= farthest) widest = std::max(widest, hop.plan_rate);
    return widest;
}

// Speeds from the top of the ladder: the most channels x speed within what the wires carry at planning rates;
// a lower speed only while it is more than 0.49 of the best one's.
void choose_channels(RingPlan& plan, double rate, double widest, double capability) {
    double best = 0;
    for (const double speed : speed_ladder(capability)) {
        if (speed > widest * (1 + kRounding)) continue;
        if (best > 0 && speed / plan.speed <= 0.49) break;
        const int channels =
            static_cast<int>(std::min<double>(kMostChannels, rate * (1 + kRounding) / speed));
        if (channels * speed <= best) continue;
        best = channels * speed;
        plan.channels = channels;
        plan.speed = speed;
    }
    if (best <= 0) plan.channels = 1, plan.speed = 0.1e9;  // NCCL's last resort
}

void search_graph(RingPlan& plan, const GroupWires& wires, double capability) {
    plan.farthest = farthest_type(wires);
    const WireRows rows(wires, plan.farthest);
    plan.rings = most_tours(wires, rows, Tour::ring);
    plan.chains = most_tours(wires, rows, Tour::chain);
    if (plan.rings.empty()) return;
    choose_channels(plan, planned_rate(wires, plan.rings), widest_hop(wires, plan.farthest), capability);
}

}  // namespace

const std::vector<double>& speed_ladder(double capability) {
    static const std::vector<double> older = gigabytes({40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3});
    static const std::vector<double> hopper = gigabytes({60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3});
    static const std::vector<double> blackwell = gigabytes({90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18});
    if (capability >= 10) return blackwell;
    return capability >= 9 ? hopper : older;
}

RingPlan search_rings(const GroupWires& wires, double capability) {
    RingPlan plan;
    if (wires.ranks() < 2) return plan;
    if (wires.full_switch()) {  // any order is best
        const double port = wires.hop(0, 1).plan_rate;
        choose_channels(plan, port, port, capability);
        plan.farthest = HopType::nvlink;
    } else if (wires.ranks() <= kLargeGroup) {
        search_graph(plan, wires, capability);
    }
    if (!plan.rings.empty() && !plan.chains.empty()) return plan;
    if (!wires.full_switch()) plan.channels = 1, plan.speed = 0.1e9, plan.farthest = HopType::sys;
    plan.rings = plan.chains = {Ring{given_order(wires.ranks()), 1, {}}};
    return plan;
}

}  // namespace wirewise
