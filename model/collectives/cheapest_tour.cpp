#include "model/collectives/cheapest_tour.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace wirewise {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Ranks up to which all tours are looked at, at once or where the beam found nothing: 2^(ranks - 1) sets.
constexpr int kAtOnce = 10, kAfterBeam = 16;
constexpr std::size_t kNarrowBeam = 32, kWideBeam = 2000;

std::size_t at(int row, int column, int ranks) { return static_cast<std::size_t>(row * ranks + column); }

// Held and Karp 1962: of all beginnings with the same ranks and end only the cheapest matters. Rank 0 is in
// every set, so that sets are of the others.
class AllTours {
  public:
    AllTours(const std::vector<double>& cost, int ranks, double limit)
        : cost_(cost), ranks_(ranks), least_(static_cast<std::size_t>((1 << (ranks - 1)) * ranks), kNever) {
        least_[0] = 0;
        std::vector<double> longer(static_cast<std::size_t>(ranks));
        for (int set = 0; set <= whole(); ++set)
            if (lengthen(set, limit, longer))
                for (int to = 1; to < ranks; ++to)
                    if ((set & bit(to)) == 0)
                        least_[at(set | bit(to), to, ranks)] = longer[static_cast<std::size_t>(to)];
    }

    std::vector<int> cheapest(Tour tour, double limit) const {
        int end = -1;
        for (int last = 1; last < ranks_; ++last) {
            const double closing = tour == Tour::ring ? cost_[at(last, 0, ranks_)] : 0;
            const double sum = least_[at(whole(), last, ranks_)] + closing;
            if (sum < limit) limit = sum, end = last;
        }
        std::vector<int> order;
        for (int set = whole(); end >= 0;) {
            order.push_back(end);
            const int previous = before(set, end);
            if (end > 0) set ^= bit(end);
            end = previous;
        }
        std::reverse(order.begin(), order.end());
        return order;
    }

  private:
    static int bit(int rank) { return 1 << (rank - 1); }
    int whole() const { return (1 << (ranks_ - 1)) - 1; }

    // What the beginnings over `set` cost one rank longer, by that rank; false if all of them reach the
    // limit.
    bool lengthen(int set, double limit, std::vector<double>& longer) const {
        bool any = false;
        for (int last = 0; last < ranks_; ++last) {
            const double so_far = least_[at(set, last, ranks_)];
            if (!(so_far < limit)) continue;
            if (!any) std::fill(longer.begin(), longer.end(), kNever);
            any = true;
            const double* hop = &cost_[at(last, 0, ranks_)];
            for (std::size_t to = 0; to < longer.size(); ++to)
                longer[to] = std::min(longer[to], so_far + hop[to]);
        }
        return any;
    }

    // The rank before `last` in the cheapest beginning over `set`; -1 before rank 0.
    int before(int set, int last) const {
        if (last == 0) return -1;
        for (int one = 0; one < ranks_; ++one)
            if (least_[at(set ^ bit(last), one, ranks_)] + cost_[at(one, last, ranks_)] ==
                least_[at(set, last, ranks_)])
                return one;
        return -1;
    }

    const std::vector<double>& cost_;
    int ranks_;
    std::vector<double> least_;  // by set and last rank
};

std::vector<int> cheapest_of_all(const std::vector<double>& cost, int ranks, Tour tour, double limit) {
    return AllTours(cost, ranks, limit).cheapest(tour, limit);
}

struct Beginning {
    std::uint64_t visited = 1;
    int last = 0, before = -1;  // `before`: its place among those one rank shorter
    double cost = 0;
};

bool cheaper(const Beginning& a, const Beginning& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    return a.visited != b.visited ? a.visited < b.visited : a.last < b.last;
}

void keep_cheapest(std::vector<Beginning>& beginnings, std::size_t count) {
    if (beginnings.size() <= count) return;
    std::nth_element(beginnings.begin(), beginnings.begin() + static_cast<std::ptrdiff_t>(count),
                     beginnings.end(), cheaper);
    beginnings.resize(count);
}

// Costs less what it takes at least to enter and to leave each rank, which every tour does once: so
// beginnings over different ranks can be compared.
struct Reduced {
    std::vector<double> cost;
    double taken = 0;  // off every tour
};

Reduced beyond_least(std::vector<double> cost, int ranks, Tour tour) {
    double taken = 0;
    const auto reduce = [&](auto&& place, int of) {
        double least = kNever;
        for (int other = 0; other < ranks; ++other)
            if (other != of) least = std::min(least, cost[place(other)]);
        if (least == kNever || least <= 0) return;
        taken += least;
        for (int other = 0; other < ranks; ++other) cost[place(other)] -= least;
    };
    const bool ring = tour == Tour::ring;
    for (int to = ring ? 0 : 1; to < ranks; ++to) reduce([&](int from) { return at(from, to, ranks); }, to);
    if (ring)
        for (int from = 0; from < ranks; ++from) reduce([&](int to) { return at(from, to, ranks); }, from);
    return {std::move(cost), taken};
}

// `shorter` by visited ranks; so is what is returned. Of all that visit the same ranks, one per next rank.
std::vector<Beginning> longer(const std::vector<Beginning>& shorter, const std::vector<double>& cost,
                              int ranks, double limit, std::size_t beam) {
    std::vector<Beginning> longer;
    longer.reserve(shorter.size() * static_cast<std::size_t>(ranks));
    for (std::size_t first = 0, end = 0; first < shorter.size(); first = end) {
        const std::uint64_t visited = shorter[first].visited;
        while (end < shorter.size() && shorter[end].visited == visited) ++end;
        for (int to = 1; to < ranks; ++to) {
            const std::uint64_t bit = std::uint64_t{1} << to;
            if (visited & bit) continue;
            Beginning best{visited | bit, to, -1, limit};
            for (std::size_t i = first; i < end; ++i)
                if (const double sum = shorter[i].cost + cost[at(shorter[i].last, to, ranks)];
                    sum < best.cost)
                    best.cost = sum, best.before = static_cast<int>(i);
            if (best.before >= 0) longer.push_back(best);
        }
    }
    keep_cheapest(longer, beam);
    std::sort(longer.begin(), longer.end(), [](const Beginning& a, const Beginning& b) {
        return a.visited != b.visited ? a.visited < b.visited : a.last < b.last;
    });
    return longer;
}

std::vector<int> order_of(const std::vector<std::vector<Beginning>>& by_length, int place) {
    std::vector<int> order;
    for (std::size_t length = by_length.size(); length-- > 0;) {
        const Beginning& one = by_length[length][static_cast<std::size_t>(place)];
        order.push_back(one.last);
        place = one.before;
    }
    std::reverse(order.begin(), order.end());
    return order;
}

std::vector<int> cheapest_of_promising(const Reduced& reduced, int ranks, Tour tour, double limit,
                                       std::size_t beam) {
    std::vector<std::vector<Beginning>> by_length{{Beginning{}}};
    for (int length = 1; length < ranks; ++length)
        by_length.push_back(longer(by_length.back(), reduced.cost, ranks, limit - reduced.taken, beam));
    std::vector<Beginning>& whole = by_length.back();
    if (tour == Tour::ring)
        for (Beginning& one : whole) one.cost += reduced.cost[at(one.last, 0, ranks)];
    const auto best = std::min_element(whole.begin(), whole.end(), cheaper);
    if (best == whole.end() || !(best->cost < limit - reduced.taken)) return {};
    return order_of(by_length, static_cast<int>(best - whole.begin()));
}

}  // namespace

std::vector<int> cheapest_tour(const std::vector<double>& cost, int ranks, Tour tour, double limit) {
    if (ranks <= kAtOnce) return cheapest_of_all(cost, ranks, tour, limit);
    const Reduced reduced = beyond_least(cost, ranks, tour);
    std::vector<int> order = cheapest_of_promising(reduced, ranks, tour, limit, kNarrowBeam);
    if (!order.empty()) return order;
    if (ranks <= kAfterBeam) return cheapest_of_all(reduced.cost, ranks, tour, limit - reduced.taken);
    return cheapest_of_promising(reduced, ranks, tour, limit, kWideBeam);
}

}  // namespace wirewise
