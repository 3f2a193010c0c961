// Source of ladder, order of relaxations and stopping rules: NCCL v2.30.7, src/graph/search.cc
// (ncclTopoCompute), read 2026-11. The walk itself is our own: rings are grown rank by rank towards the
// roomiest hop, each channel takes its speed from every link it crosses, and the best count of channels a
// bounded search finds is kept.
#include "model/collectives/ring_search.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

namespace wirewise {
namespace {

constexpr int kMostChannels = 32;  // NCCL: MAXCHANNELS / 2
constexpr int kSteps = 4000;       // ranks placed per speed and path type before giving up; NCCL allows 16384
constexpr int kPatience = 400;     // ranks placed since the last improvement
constexpr int kLargeGroup = 64;    // ranks that fit the set of visited ones

std::vector<double> gigabytes(std::vector<double> ladder) {
    for (double& speed : ladder) speed *= 1e9;
    return ladder;
}

class Walk {
  public:
    // `capacity`: by wire, what the rings may plan with.
    Walk(const GroupWires& wires, const std::vector<double>& capacity, double speed, HopType farthest,
         int enough)
        : wires_(wires), speed_(speed), farthest_(farthest), enough_(enough), left_(capacity) {
        order_.reserve(static_cast<std::size_t>(wires.ranks()));
    }

    std::vector<std::vector<int>> run() {
        start_ring();
        return std::move(best_);
    }

  private:
    bool fits(const Hop& hop) const {
        if (hop.type > farthest_) return false;
        for (const LinkUse& use : hop.uses) {
            const auto link = static_cast<std::size_t>(use.link);
            // A link crossed twice by one hop is rare and only makes the search a little hopeful.
            if (speed_ * use.plan_cost > left_[link] + 1e-9 * wires_.wires()[link].plan) return false;
        }
        return true;
    }

    void take(const Hop& hop, double sign) {
        for (const LinkUse& use : hop.uses)
            left_[static_cast<std::size_t>(use.link)] -= sign * speed_ * use.plan_cost;
    }

    double room(const Hop& hop) const {
        double room = std::numeric_limits<double>::max();
        for (const LinkUse& use : hop.uses) room = std::min(room, left_[static_cast<std::size_t>(use.link)]);
        return room;
    }

    // Candidates after `from`: nearer path types first, then more room, then lower ranks.
    std::vector<int> next_ranks(int from) const {
        std::vector<std::pair<std::pair<HopType, double>, int>> scored;
        for (int to = 1; to < wires_.ranks(); ++to) {
            if (visited_ & bit(to)) continue;
            const Hop& hop = wires_.hop(from, to);
            if (fits(hop)) scored.push_back({{hop.type, -room(hop)}, to});
        }
        std::sort(scored.begin(), scored.end());
        std::vector<int> ranks;
        for (const auto& entry : scored) ranks.push_back(entry.second);
        return ranks;
    }

    void start_ring() {
        order_.assign(1, 0);
        visited_ = bit(0);
        grow();
    }

    void grow() {
        if (done()) return;
        const int last = order_.back();
        if (static_cast<int>(order_.size()) == wires_.ranks()) return close(last);
        for (const int to : next_ranks(last)) {
            ++steps_;
            const Hop& hop = wires_.hop(last, to);
            take(hop, 1);
            order_.push_back(to);
            visited_ |= bit(to);
            grow();
            visited_ &= ~bit(to);
            order_.pop_back();
            take(hop, -1);
            if (done()) return;
        }
    }

    void close(int last) {
        const Hop& hop = wires_.hop(last, 0);
        if (!fits(hop)) return;
        take(hop, 1);
        found_.push_back(order_);
        if (found_.size() > best_.size()) best_ = found_, improved_at_ = steps_;
        if (!done()) {
            const std::vector<int> order = order_;
            const std::uint64_t visited = visited_;
            start_ring();
            order_ = order;
            visited_ = visited;
        }
        found_.pop_back();
        take(hop, -1);
    }

    bool done() const {
        const int limit = best_.empty() ? kSteps : improved_at_ + kPatience;
        return steps_ > limit || static_cast<int>(best_.size()) >= enough_;
    }
    static std::uint64_t bit(int rank) { return std::uint64_t{1} << rank; }

    const GroupWires& wires_;
    double speed_;
    HopType farthest_;
    int enough_;
    std::vector<double> left_;  // capacity, less what the rings so far and this one take
    std::vector<int> order_;
    std::uint64_t visited_ = 0;
    std::vector<std::vector<int>> found_, best_;
    int steps_ = 0, improved_at_ = 0;
};

// What each rank can send and receive over all its links.
struct Ports {
    std::vector<double> out, in;

    // No set of rings carries more than the weakest rank can send or receive.
    double least() const {
        return std::min(*std::min_element(out.begin(), out.end()), *std::min_element(in.begin(), in.end()));
    }
};

// The link a hop arrives by; read requests, which go the other way, take none of the plan.
int last_planned(const Hop& hop) {
    const auto use = std::find_if(hop.uses.rbegin(), hop.uses.rend(),
                                  [](const LinkUse& one) { return one.plan_cost > 0; });
    return use == hop.uses.rend() ? hop.uses.back().link : use->link;
}

Ports ports_of(const GroupWires& wires) {
    const auto total = [&](int rank, bool out) {
        std::vector<int> seen;
        double sum = 0;
        for (int other = 0; other < wires.ranks(); ++other) {
            if (other == rank) continue;
            const Hop& hop = out ? wires.hop(rank, other) : wires.hop(other, rank);
            if (hop.uses.empty() || hop.type == HopType::relayed) continue;
            const int link = out ? hop.uses.front().link : last_planned(hop);
            if (std::find(seen.begin(), seen.end(), link) != seen.end()) continue;
            seen.push_back(link);
            sum += wires.wires()[static_cast<std::size_t>(link)].plan;
        }
        return sum;
    };
    Ports ports;
    for (int rank = 0; rank < wires.ranks(); ++rank) {
        ports.out.push_back(total(rank, true));
        ports.in.push_back(total(rank, false));
    }
    return ports;
}

std::vector<double> plan_rates(const GroupWires& wires) {
    std::vector<double> rates;
    for (const auto& wire : wires.wires()) rates.push_back(wire.plan);
    return rates;
}

// A link far wider than its neighbours tempts the walk to pass over it again and again, and to leave the
// other links of its ends idle. So from the widest direct links down, what both ends have beyond the weakest
// rank is taken off.
std::vector<double> rates_without_surplus(const GroupWires& wires, Ports ports) {
    std::vector<double> rates = plan_rates(wires);
    const double needed = ports.least();
    std::vector<std::pair<double, std::pair<int, int>>> direct;
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (from != to && wires.hop(from, to).type == HopType::nvlink)
                direct.push_back({-wires.hop(from, to).plan_rate, {from, to}});
    std::sort(direct.begin(), direct.end());
    for (const auto& [rate, ends] : direct) {
        double& out = ports.out[static_cast<std::size_t>(ends.first)];
        double& in = ports.in[static_cast<std::size_t>(ends.second)];
        double& link = rates[static_cast<std::size_t>(wires.hop(ends.first, ends.second).uses.front().link)];
        const double surplus = std::max(0.0, std::min({out - needed, in - needed, link}));
        link -= surplus, out -= surplus, in -= surplus;
    }
    return rates;
}

double widest_hop(const GroupWires& wires) {
    double widest = 0;
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (from != to) widest = std::max(widest, wires.hop(from, to).plan_rate);
    return widest;
}

std::vector<int> given_order(int ranks) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// On a full switch any order is best: only count and speed are to be settled.
RingPlan rings_on_switch(const GroupWires& wires, double capability) {
    RingPlan best;
    const double port = wires.hop(0, 1).plan_rate;
    for (const double speed : speed_ladder(capability)) {
        const int channels = std::min(kMostChannels, static_cast<int>(port * (1 + 1e-9) / speed));
        if (best.channels() > 0 && speed / best.speed <= 0.49) break;
        if (channels * speed <= best.rate()) continue;
        best.orders.assign(static_cast<std::size_t>(channels), given_order(wires.ranks()));
        best.speed = speed;
        best.farthest = HopType::nvlink;
    }
    return best;
}

// Speeds from the top of the ladder, path types from near to far: a farther type only while nothing nearer
// was found, a lower speed only while it is more than 0.49 of the best one's, nothing once a GPU's links are
// full.
RingPlan search_graph(const GroupWires& wires, double capability) {
    RingPlan best;
    const Ports ports = ports_of(wires);
    const double widest = widest_hop(wires), total = ports.least();
    std::vector<std::vector<double>> capacities{plan_rates(wires), rates_without_surplus(wires, ports)};
    if (capacities[0] == capacities[1]) capacities.pop_back();
    for (const double speed : speed_ladder(capability)) {
        if (speed > widest) continue;
        if (best.channels() > 0 && speed / best.speed <= 0.49) break;
        const int enough = std::clamp(static_cast<int>(total * (1 + 1e-9) / speed), 1, kMostChannels);
        for (int type = 0; type <= static_cast<int>(HopType::sys); ++type) {
            const auto farthest = static_cast<HopType>(type);
            if (best.channels() > 0 && farthest > best.farthest) break;
            if (enough * speed <= best.rate()) break;
            for (const std::vector<double>& capacity : capacities) {
                RingPlan found{Walk(wires, capacity, speed, farthest, enough).run(), speed, farthest};
                if (found.rate() > best.rate()) best = std::move(found);
            }
        }
        if (best.rate() >= total * (1 - 1e-9)) break;
    }
    return best;
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
    RingPlan best;
    if (wires.ranks() < 2) return best;
    if (wires.full_switch())
        best = rings_on_switch(wires, capability);
    else if (wires.ranks() <= kLargeGroup)
        best = search_graph(wires, capability);
    if (best.channels() > 0) return best;
    best.orders.assign(1, given_order(wires.ranks()));  // NCCL's last resort: 0.1 GB/s in the given order
    best.speed = 0.1e9;
    best.farthest = HopType::sys;
    return best;
}

}  // namespace wirewise
