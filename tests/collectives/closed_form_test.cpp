// Algorithms against what they must come to on graphs simple enough to work out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "model/collectives/pricer.hpp"
#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

constexpr Bytes kLarge{std::int64_t{64} << 30};

double gigabytes(const Machine& machine, std::vector<int> gpus,
                 CollectiveKind kind = CollectiveKind::all_reduce, const NcclEnvironment& environment = {}) {
    return CollectivePricer(machine, environment, group(std::move(gpus))).price(kind, kLarge).busbw.value() /
           1e9;
}

NcclEnvironment with(std::initializer_list<const char*> assignments) {
    NcclEnvironment environment;
    for (const char* assignment : assignments) environment.set(assignment, "test");
    return environment;
}

// A ring over a switch: S x steps / n at the port's rate, the last receive out of the GPU's own memory, and
// the ramp, long past.
class RingOnSwitch : public testing::TestWithParam<int> {};

TEST_P(RingOnSwitch, AllReduceIsTheClosedForm) {
    const int n = GetParam();
    const double size = static_cast<double>(kLarge.count()), port = 18 * 20.6e9, copy = 24 * 55e9;
    const double seconds = size * 2 * (n - 1) / n / port + size / n / copy + 100e-6;
    const double expected = size / seconds * busbw_factor(CollectiveKind::all_reduce, n) / 1e9;
    EXPECT_NEAR(gigabytes(switch_box(h200(), n), first(n), CollectiveKind::all_reduce,
                          with({"NCCL_ALGO=Ring", "NCCL_PROTO=Simple"})),
                expected, 0.5);
}

TEST_P(RingOnSwitch, BroadcastHasNoLastReceive) {
    const int n = GetParam();
    EXPECT_NEAR(
        gigabytes(switch_box(h200(), n), first(n), CollectiveKind::broadcast, with({"NCCL_PROTO=Simple"})),
        18 * 20.6, 1);
}

TEST_P(RingOnSwitch, ExchangeFillsThePorts) {
    const int n = GetParam();
    const double size = static_cast<double>(kLarge.count()), port = 18 * 20.6e9;
    const double seconds = size * (n - 1) / n / port + 100e-6;
    const double expected = size / seconds * busbw_factor(CollectiveKind::all_to_all, n) / 1e9;
    EXPECT_NEAR(gigabytes(switch_box(h200(), n), first(n), CollectiveKind::all_to_all), expected, 0.5);
}

INSTANTIATE_TEST_SUITE_P(WorldSizes, RingOnSwitch, testing::Values(2, 3, 4, 5, 6, 7, 8, 16));

// A full mesh of four with six links per pair holds six directed rings: the same 18 links as a switch port.
TEST(Mesh, FourGpusCarryAllTheirLinks) {
    const Machine machine = bridge_groups(h200(), 1, 4, 6, CpuKind::intel_emerald_rapids);
    EXPECT_NEAR(gigabytes(machine, first(4), CollectiveKind::broadcast, with({"NCCL_PROTO=Simple"})),
                18 * 20.6, 1);
}

TEST(Mesh, ThreeOfFourLoseTheFourthsLinks) {
    const Machine machine = bridge_groups(h200(), 1, 4, 6, CpuKind::intel_emerald_rapids);
    EXPECT_NEAR(gigabytes(machine, first(3), CollectiveKind::broadcast, with({"NCCL_PROTO=Simple"})),
                12 * 20.6, 1);
}

// Bus rates per number of GPUs on the DGX-1's hybrid cube mesh: links x 22.2, the number of links found by
// NCCL. The fifth GPU is reached over a relay, whose read requests (2 of 18 flits) share its links.
TEST(Mesh, CubeMeshFollowsItsRings) {
    const Machine machine = cube_mesh();
    const std::pair<int, double> kLinks[] = {{2, 1}, {3, 2}, {4, 4}, {5, 2 / (1 + 2.0 / 18)},
                                             {6, 2}, {7, 4}, {8, 6}};
    for (const auto& [n, links] : kLinks)
        EXPECT_NEAR(gigabytes(machine, first(n), CollectiveKind::broadcast, with({"NCCL_PROTO=Simple"})),
                    links * 22.2, 0.5)
            << n;
}

// Through host memory the last receive crosses PCIe again: 2/3 of the way for all-reduce on two ranks, 1/2
// for gathers.
TEST(HostMemory, TwoRanksPayTheLastReceive) {
    const Machine machine = bridge_groups(a100(), 1, 2, 0, CpuKind::amd_epyc);
    const NcclEnvironment off = with({"NCCL_P2P_DISABLE=1", "NCCL_PROTO=Simple"});
    EXPECT_NEAR(gigabytes(machine, first(2), CollectiveKind::all_reduce, off), 24 * 2.0 / 3, 0.1);
    EXPECT_NEAR(gigabytes(machine, first(2), CollectiveKind::all_gather, off), 24 / 2.0, 0.1);
    EXPECT_NEAR(gigabytes(machine, first(2), CollectiveKind::broadcast, off), 24, 0.1);
}

TEST(HostMemory, APairBelowOneSwitchSharesItsUplink) {
    const Machine machine = pcie_box(geforce(), 1, 1, 2, CpuKind::intel_skylake);
    EXPECT_NEAR(gigabytes(machine, first(2), CollectiveKind::all_reduce, with({"NCCL_PROTO=Simple"})),
                12 * 2.0 / 3, 0.1);
    EXPECT_NEAR(gigabytes(machine, first(2), CollectiveKind::broadcast, with({"NCCL_PROTO=Simple"})), 24,
                0.1);
}

TEST(Groups, TwoAtOnceShareALink) {
    const Machine machine = bridge_groups(a100(), 2, 2, 0, CpuKind::amd_epyc);
    const CollectivePricer alone(machine, {}, {{0, 2}}), both(machine, {}, {{0, 2}, {1, 3}});
    const double ratio = both.price(CollectiveKind::broadcast, kLarge).seconds /
                         alone.price(CollectiveKind::broadcast, kLarge).seconds;
    EXPECT_NEAR(ratio, 2, 0.01);
}

TEST(Groups, TwoAtOnceOnASwitchDoNot) {
    const Machine machine = switch_box(h200(), 8);
    const CollectivePricer alone(machine, {}, {{0, 1, 2, 3}}),
        both(machine, {}, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    EXPECT_DOUBLE_EQ(both.price(CollectiveKind::all_reduce, kLarge).seconds.value(),
                     alone.price(CollectiveKind::all_reduce, kLarge).seconds.value());
}

TEST(Permissions, PeersStopAtTheHostBridge) {
    const Machine near = pcie_box(a100(), 1, 1, 4, CpuKind::intel_skylake);
    const Machine far = pcie_box(a100(), 1, 4, 1, CpuKind::intel_skylake);
    const auto transport = [](const Machine& machine, const NcclEnvironment& environment) {
        return std::string(CollectivePricer(machine, environment, group(first(4)))
                               .price(CollectiveKind::all_reduce, kLarge)
                               .transport);
    };
    EXPECT_EQ(transport(near, {}), "p2p");
    EXPECT_EQ(transport(far, {}), "shm");
    EXPECT_EQ(transport(far, with({"NCCL_P2P_LEVEL=SYS"})), "p2p");
    EXPECT_EQ(transport(near, with({"NCCL_P2P_LEVEL=NVL"})), "shm");
    EXPECT_EQ(transport(near, with({"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1"})), "net");
    EXPECT_EQ(transport(pcie_box(geforce(), 1, 1, 4, CpuKind::amd_epyc), with({"NCCL_P2P_LEVEL=SYS"})),
              "shm");
    EXPECT_EQ(transport(switch_box(h200(), 4), with({"NCCL_P2P_DISABLE=1"})), "shm");
}

TEST(Permissions, TwoGpusOnAnAmdHostArePeersAcrossIt) {
    const Machine machine = pcie_box(a100(), 2, 1, 1, CpuKind::amd_epyc);
    EXPECT_EQ(
        CollectivePricer(machine, {}, group(first(2))).price(CollectiveKind::all_reduce, kLarge).transport,
        "p2p");
}

TEST(Sockets, BothPathsOffLeaveTcp) {
    const NcclEnvironment off = with({"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1"});
    const CollectivePricer pricer(switch_box(h200(), 2), off, group(first(2)));
    const CollectivePrice price = pricer.price(CollectiveKind::all_reduce, kLarge);
    EXPECT_NE(price.bottleneck.find("TCP"), std::string::npos) << price.bottleneck;
    EXPECT_LE(price.busbw_high / price.busbw_low, 2.5);
}

}  // namespace
}  // namespace wirewise::test
