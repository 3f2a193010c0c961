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
std::vector<int> cheapest_of_all(const std::vector<double>& cost, int ranks, Tour tour, double limit) {
    const int sets = 1 << (ranks - 1), whole = sets - 1;
    std::vector<double> least(static_cast<std::size_t>(sets * ranks), kNever);
    std::vector<std::int8_t> before(least.size(), -1);
    least[at(0, 0, ranks)] = 0;
    for (int set = 0; set < sets; ++set)
        for (int last = 0; last < ranks; ++last) {
            const double so_far = least[at(set, last, ranks)];
            if (!(so_far < limit)) continue;
            for (int to = 1; to < ranks; ++to) {
                const int bit = 1 << (to - 1);
                if (set & bit) continue;
                const std::size_t longer = at(set | bit, to, ranks);
                const double sum = so_far + cost[at(last, to, ranks)];
                if (sum < least[longer]) least[longer] = sum, before[longer] = static_cast<std::int8_t>(last);
            }
        }
    int end = -1;
    double best = limit;
    for (int last = 1; last < ranks; ++last) {
        const double closing = tour == Tour::ring ? cost[at(last, 0, ranks)] : 0;
        const double sum = least[at(whole, last, ranks)] + closing;
        if (sum < best) best = sum, end = last;
    }
    std::vector<int> order;
    for (int set = whole; end >= 0;) {
        order.push_back(end);
        const int previous = before[at(set, end, ranks)];
        if (end > 0) set ^= 1 << (end - 1);
        end = previous;
    }
    std::reverse(order.begin(), order.end());
    return order;
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

bool alike(const Beginning& a, const Beginning& b) { return a.visited == b.visited && a.last == b.last; }

void keep_cheapest(std::vector<Beginning>& beginnings, std::size_t count) {
    if (beginnings.size() <= count) return;
    std::nth_element(beginnings.begin(), beginnings.begin() + static_cast<std::ptrdiff_t>(count),
                     beginnings.end(), cheaper);
    beginnings.resize(count);
}

void keep_promising(std::vector<Beginning>& beginnings, std::size_t beam) {
    keep_cheapest(beginnings, 4 * beam);
    std::sort(beginnings.begin(), beginnings.end(), [](const Beginning& a, const Beginning& b) {
        return alike(a, b)              ? a.cost < b.cost
               : a.visited == b.visited ? a.last < b.last
                                        : a.visited < b.visited;
    });
    beginnings.erase(std::unique(beginnings.begin(), beginnings.end(), alike), beginnings.end());
    keep_cheapest(beginnings, beam);
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

std::vector<Beginning> longer(const std::vector<Beginning>& shorter, const std::vector<double>& cost,
                              int ranks, double limit, std::size_t beam) {
    std::vector<Beginning> longer;
    longer.reserve(shorter.size() * static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < shorter.size(); ++i)
        for (int to = 1; to < ranks; ++to) {
            const double hop = cost[at(shorter[i].last, to, ranks)];
            const std::uint64_t bit = std::uint64_t{1} << to;
            if ((shorter[i].visited & bit) == 0 && hop < kNever && shorter[i].cost + hop < limit)
                longer.push_back({shorter[i].visited | bit, to, static_cast<int>(i), shorter[i].cost + hop});
        }
    keep_promising(longer, beam);
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
