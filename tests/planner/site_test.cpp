// Groups of ranks along the mesh axes.
#include "simulator/planner/site.hpp"

#include <gtest/gtest.h>

namespace wirewise {
namespace {

using Groups = std::vector<std::vector<int>>;
const std::vector<int> kGpus{4, 5, 6, 7};

TEST(Groups, HsdpShardsWithinNeighboursAndReplicatesAcross) {
    const Mesh mesh{.replicate = 2, .shard = 2};
    EXPECT_EQ(groups_along(Axis::shard, mesh, kGpus), (Groups{{4, 5}, {6, 7}}));
    EXPECT_EQ(groups_along(Axis::replicate, mesh, kGpus), (Groups{{4, 6}, {5, 7}}));
    EXPECT_EQ(groups_along(Axis::world, mesh, kGpus), (Groups{kGpus}));
}

TEST(Groups, DdpIsOneReplicateGroup) {
    EXPECT_EQ(groups_along(Axis::replicate, {.replicate = 4}, kGpus), (Groups{kGpus}));
    EXPECT_EQ(groups_along(Axis::shard, {.replicate = 4}, kGpus).size(), 4U);
}

TEST(Groups, AMeshOfAnotherSizeIsAFaultOfOurs) {
    EXPECT_THROW(groups_along(Axis::world, {.shard = 3}, kGpus), InvariantError);
}

}  // namespace
}  // namespace wirewise
