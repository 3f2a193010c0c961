// The limits in time that a person at a prompt would notice. Real figures: benchmark_collectives; here a
// build without optimisation must pass too, so the limits are four times what is promised. What is taken is
// the time of the processor, over all threads: other work on the machine does not count.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "model/collectives/place.hpp"
#include "model/topology/built_in.hpp"
#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

constexpr int kPatience = 4;

// The best of three runs.
template <class Work>
double milliseconds(Work&& work) {
    double best = 1e9;
    for (int run = 0; run < 3; ++run) {
        const std::clock_t start = std::clock();
        work();
        best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
}

TEST(Speed, PlacementsOfEightGpus) {
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        if (machine.gpus_per_server() > 8) continue;
        for (int count = 2; count <= machine.gpus_per_server(); ++count)
            EXPECT_LT(milliseconds([&] { place(machine, {}, count); }), kPatience * 50)
                << name << ' ' << count;
    }
    const Machine pairs = *built_in_machine("h100-nvl-8");
    const double orders = milliseconds([&] { place(pairs, {}, 8, {CollectiveKind::all_reduce, 1_GiB, 2}); });
    EXPECT_LT(orders, kPatience * 50) << "groups of two on h100-nvl-8";
}

// Four GPUs below each of two PCIe switches on two NUMA nodes, sixteen in NVLink groups of four, a switch,
// and meshes with thousands of shapes, one of them with dear rings.
TEST(Speed, PlacementsOfSixteenGpus) {
    const Machine boxes[] = {pcie_box(a100(), 2, 2, 4, CpuKind::amd_epyc),
                             bridge_groups(h200(), 4, 4, 6, CpuKind::intel_emerald_rapids),
                             *built_in_machine("dgx-2"),
                             uneven_hypercube(),
                             random_mesh(1),
                             random_mesh(2)};
    double longest = 0;
    for (const Machine& machine : boxes)
        for (const int count : {4, 8, 12, 14, 15}) {
            const double took = milliseconds([&] { place(machine, {}, count); });
            EXPECT_LT(took, kPatience * 1000) << machine.name << ' ' << count;
            longest = std::max(longest, took);
        }
    fmt::print("placements of sixteen GPUs: at most {:.0f} ms of processor time\n", longest);
}

TEST(Speed, AllReduceOfSixteenThousandGpus) {
    const Machine cluster = join(*built_in_machine("hgx-h100-8"), 2048, fabric_named("infiniband-ndr"));
    const double took = milliseconds([&] {
        const CollectivePricer pricer(cluster, {}, group(first(cluster.gpu_count())));
        EXPECT_GT(pricer.price(CollectiveKind::all_reduce, 1_GiB).busbw.value(), 100e9);
    });
    fmt::print("all-reduce of 16,384 GPUs searched and priced in {:.2f} ms\n", took);
    EXPECT_LT(took, kPatience * 10);
}

}  // namespace
}  // namespace wirewise::test
