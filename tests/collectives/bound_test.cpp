// The min-cut bound holds for everything that is priced: prices and bounds are computed apart from each
// other.
#include <gtest/gtest.h>

#include "model/collectives/cut_bound.hpp"
#include "model/collectives/pricer.hpp"
#include "model/topology/built_in.hpp"
#include "tests/collectives/boxes.hpp"

namespace wirewise::test {
namespace {

TEST(Bound, NoPriceBeatsItOnAnyBuiltInMachine) {
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        if (machine.gpus_per_server() < 2) continue;
        const CollectivePricer pricer(machine, {}, group(first(machine.gpus_per_server())));
        for (std::size_t kind = 0; kind < kCollectiveNames.size(); ++kind)
            for (const Bytes bytes : {1_KiB, 1_MiB, 256_MiB, 16_GiB}) {
                const CollectivePrice price = pricer.price(static_cast<CollectiveKind>(kind), bytes);
                EXPECT_LE(price.busbw.value(), price.bound_busbw.value() * (1 + 1e-9))
                    << name << ' ' << kCollectiveNames[kind] << ' ' << bytes.count();
            }
    }
}

TEST(Bound, ABroadcastNeedsNothingBackToItsRoot) {
    const Cut from_root{1, true, 10e9}, to_root{3, false, 1e9}, no_way_back{3, false, 0};
    EXPECT_DOUBLE_EQ(seconds_per_byte_over(from_root, CollectiveKind::broadcast, 4), 1 / 10e9);
    EXPECT_DOUBLE_EQ(seconds_per_byte_over(to_root, CollectiveKind::broadcast, 4), 0);
    EXPECT_DOUBLE_EQ(seconds_per_byte_over(no_way_back, CollectiveKind::broadcast, 4), 0);
    EXPECT_DOUBLE_EQ(seconds_per_byte_over(to_root, CollectiveKind::all_reduce, 4), 1 / 1e9);
}

}  // namespace
}  // namespace wirewise::test
