// `place` against the pricing of every subset.
#include "model/collectives/place.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

double busbw_of(const Machine& machine, const std::vector<int>& gpus) {
    return CollectivePricer(machine, {}, group(gpus)).price(CollectiveKind::all_reduce, 1_GiB).busbw.value();
}

// Subsets as bits, the lowest GPU last.
double best_of_all(const Machine& machine, int count) {
    std::vector<bool> taken(static_cast<std::size_t>(machine.gpus_per_server()));
    std::fill(taken.begin(), taken.begin() + count, true);
    double best = 0;
    do {
        std::vector<int> gpus;
        for (std::size_t i = 0; i < taken.size(); ++i)
            if (taken[i]) gpus.push_back(static_cast<int>(i));
        best = std::max(best, busbw_of(machine, gpus));
    } while (std::prev_permutation(taken.begin(), taken.end()));
    return best;
}

TEST(Place, FindsWhatBruteForceFinds) {
    for (const Machine& machine : {cube_mesh(), bridge_groups(h200(), 2, 4, 6, CpuKind::amd_epyc),
                                   pcie_box(a100(), 2, 2, 2, CpuKind::intel_skylake)})
        for (const int count : {2, 3, 4, 5, 8}) {
            const auto placements = place(machine, {}, count);
            EXPECT_NEAR(placements.front().busbw.value() / best_of_all(machine, count), 1, 1e-6)
                << machine.name << ' ' << count;
        }
}

// Too many shapes to price them all: the promising ones hold the best.
TEST(Place, FindsItAmongThousandsOfShapes) {
    const Machine machine = uneven_hypercube();
    for (const int count : {3, 4}) {
        const auto placements = place(machine, {}, count);
        EXPECT_NEAR(placements.front().busbw.value() / best_of_all(machine, count), 1, 1e-6) << count;
        EXPECT_LE(placements.size(), 257U);
    }
}

}  // namespace
}  // namespace wirewise::test
