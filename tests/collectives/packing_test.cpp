// The program under the rings: cheapest tours against all of them, packings with known answers.
#include "model/collectives/packing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/collectives/link_load.hpp"
#include "tests/collectives/boxes.hpp"
#include "tests/collectives/random_machines.hpp"

namespace wirewise::test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double cost_of(const std::vector<double>& cost, const std::vector<int>& order, Tour tour) {
    double sum = 0;
    const std::size_t hops = order.size() - (tour == Tour::chain ? 1 : 0);
    for (std::size_t i = 0; i < hops; ++i)
        sum += cost[static_cast<std::size_t>(order[i]) * order.size() +
                    static_cast<std::size_t>(order[(i + 1) % order.size()])];
    return sum;
}

double least_of_all(const std::vector<double>& cost, int ranks, Tour tour) {
    std::vector<int> order = first(ranks);
    double least = kNever;
    do least = std::min(least, cost_of(cost, order, tour));
    while (std::next_permutation(order.begin() + 1, order.end()));
    return least;
}

// Some hops missing.
std::vector<double> any_costs(int ranks) {
    std::vector<double> cost;
    for (int i = 0; i < ranks * ranks; ++i) cost.push_back(pick(0, 3) == 0 ? kNever : pick(0, 20));
    return cost;
}

TEST(CheapestTour, IsTheLeastOfAll) {
    EXPECT_TRUE(rc::check([] {
        const int ranks = pick(2, 7);
        const Tour tour = pick(0, 1) == 0 ? Tour::ring : Tour::chain;
        const std::vector<double> cost = any_costs(ranks);
        const std::vector<int> order = cheapest_tour(cost, ranks, tour);
        const double least = least_of_all(cost, ranks, tour);
        RC_ASSERT(order.empty() == (least == kNever));
        if (!order.empty()) RC_ASSERT(cost_of(cost, order, tour) == least);
    }));
}

// Eleven to sixteen ranks: the quick search may miss a tour below the limit, the one after it does not.
TEST(CheapestTour, FindsWhatIsBelowTheLimit) {
    EXPECT_TRUE(rc::check([] {
        const int ranks = pick(11, 16);
        const std::vector<int> hidden = shuffled(first(ranks));
        std::vector<double> cost(static_cast<std::size_t>(ranks * ranks));
        for (double& one : cost) one = pick(1, 20);
        for (std::size_t i = 0; i < hidden.size(); ++i)
            cost[static_cast<std::size_t>(hidden[i] * ranks + hidden[(i + 1) % hidden.size()])] = 1;
        const std::vector<int> order = cheapest_tour(cost, ranks, Tour::ring, ranks + 0.5);
        RC_ASSERT(!order.empty());
        RC_ASSERT(cost_of(cost, order, Tour::ring) == ranks);
        RC_ASSERT(cheapest_tour(cost, ranks, Tour::ring, ranks).empty());
    }));
}

// Three wires, each pattern takes two of them whole: half of each pattern fills all three.
TEST(Packing, SplitsWhatWholesCannotFill) {
    const std::vector<Column> patterns{{1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
    const auto cheapest = [&](const std::vector<double>& prices, double limit) {
        const auto cost = [&](const Column& column) {
            return std::inner_product(column.begin(), column.end(), prices.begin(), 0.0);
        };
        const auto best =
            std::min_element(patterns.begin(), patterns.end(),
                             [&](const Column& a, const Column& b) { return cost(a) < cost(b); });
        return cost(*best) < limit ? *best : Column{};
    };
    const std::vector<double> amounts = pack(3, cheapest);
    EXPECT_NEAR(std::accumulate(amounts.begin(), amounts.end(), 0.0), 1.5, 1e-6);
}

// The DGX-1's eight GPUs: six rings on six links of each, none idle.
TEST(Packing, FillsTheCubeMesh) {
    const GroupWires wires(cube_mesh(), {}, first(8));
    const RingPlan plan = search_rings(wires, 7);
    const LinkLoad load = tour_load(wires, plan.rings, Tour::ring);
    EXPECT_NEAR(narrowest(wires.wires(), load).rate, 6 * 22.2e9, 0.1e9);
}

// GPU 4 hangs on GPU 0 alone: both ways over it, less what the relay's requests take.
TEST(Packing, RelaysWhereNothingNearerLeadsRound) {
    const GroupWires wires(cube_mesh(), {}, first(5));
    const RingPlan plan = search_rings(wires, 7);
    EXPECT_EQ(plan.farthest, HopType::relayed);
    EXPECT_EQ(wires.hop(1, 4).type, HopType::relayed);
    EXPECT_EQ(wires.hop(0, 1).type, HopType::nvlink);
    const LinkLoad load = tour_load(wires, plan.rings, Tour::ring);
    EXPECT_NEAR(narrowest(wires.wires(), load).rate, 2 * 22.2e9 / (1 + 2.0 / 18), 0.1e9);
}

}  // namespace
}  // namespace wirewise::test
