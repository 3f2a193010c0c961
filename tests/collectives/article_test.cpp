// The article this tool started from (Towards Data Science, "Behind the Scenes of Distributed Training and
// Why Your GPU Wiring Matters as Much as Your Strategy", 2026-07), from topology alone: all-reduce of 8 GiB
// on H200.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/collectives/pricer.hpp"
#include "model/topology/built_in.hpp"
#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

double all_reduce(const char* machine, std::vector<int> gpus, bool nvls) {
    NcclEnvironment environment;
    environment.nvls = nvls;
    return CollectivePricer(*built_in_machine(machine), environment, group(std::move(gpus)))
               .price(CollectiveKind::all_reduce, 8_GiB)
               .busbw.value() /
           1e9;
}

TEST(Article, NvSwitchWithoutInSwitchSumsIsFlat) {
    const double pair = all_reduce("hgx-h200-8", first(2), false);
    EXPECT_GE(pair, 295);
    EXPECT_LE(pair, 345);
    double least = 1e9, most = 0;
    for (int gpus = 4; gpus <= 8; ++gpus) {
        const double rate = all_reduce("hgx-h200-8", first(gpus), false);
        EXPECT_GE(rate, 340) << gpus;
        EXPECT_LE(rate, 380) << gpus;
        least = std::min(least, rate);
        most = std::max(most, rate);
    }
    EXPECT_LE(most, 1.05 * least);
}

TEST(Article, InSwitchSumsRiseFromFiveGpus) {
    double before = all_reduce("hgx-h200-8", first(4), true);
    EXPECT_NEAR(before, all_reduce("hgx-h200-8", first(4), false), 1e-6);
    for (int gpus = 5; gpus <= 8; ++gpus) {
        const double rate = all_reduce("hgx-h200-8", first(gpus), true);
        EXPECT_GT(rate, before) << gpus;
        EXPECT_LE(rate, 490) << gpus;
        before = rate;
    }
}

TEST(Article, AFullBridgeGroup) {
    for (const std::vector<int>& gpus : {std::vector<int>{0, 1, 2, 3}, {4, 5, 6, 7}})
        EXPECT_NEAR(all_reduce("h200-nvl-8", gpus, true), 322, 32.2);
}

TEST(Article, AcrossTwoBridgeGroups) {
    for (const std::vector<int>& gpus :
         {std::vector<int>{0, 4}, {0, 1, 4, 5}, {0, 1, 2, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
        const double rate = all_reduce("h200-nvl-8", gpus, true);
        EXPECT_GE(rate, 28) << gpus.size();
        EXPECT_LE(rate, 39) << gpus.size();
    }
}

TEST(Article, NvlinkAgainstPcieIsAboutTenfold) {
    const double ratio =
        all_reduce("h200-nvl-8", {0, 1, 2, 3}, true) / all_reduce("h200-nvl-8", {0, 1, 4, 5}, true);
    EXPECT_GE(ratio, 8);
    EXPECT_LE(ratio, 12);
}

}  // namespace
}  // namespace wirewise::test
