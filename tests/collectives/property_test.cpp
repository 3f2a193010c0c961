// What must hold on any machine: more bandwidth does not hurt, unused links and numbers of GPUs do not
// matter, nothing beats the min-cut bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/collectives/link_load.hpp"
#include "model/collectives/pricer.hpp"
#include "tests/collectives/boxes.hpp"
#include "tests/collectives/random_machines.hpp"

namespace wirewise::test {
namespace {

constexpr double kRounding = 1e-9;

CollectiveKind any_kind() {
    return static_cast<CollectiveKind>(pick(0, static_cast<int>(kCollectiveNames.size()) - 1));
}

Bytes any_size() { return Bytes(std::int64_t{1} << pick(10, 34)); }

NcclEnvironment any_environment() {
    NcclEnvironment environment;
    environment.nvls = pick(0, 1) == 1;
    environment.p2p_disable = pick(0, 3) == 0;
    return environment;
}

CollectivePrice price(const Machine& machine, const Subject& subject, const NcclEnvironment& environment,
                      CollectiveKind kind, Bytes bytes) {
    CollectivePrice price = CollectivePricer(machine, environment, group(subject.gpus)).price(kind, bytes);
    // Views die with the pricer.
    price.algorithm = price.protocol = price.transport = price.bottleneck = {};
    return price;
}

// One link, both ways, so many times as fast.
Machine widened(Machine machine, double factor) {
    const auto links = boost::edges(machine.graph);
    const int count = static_cast<int>(boost::num_edges(machine.graph));
    const LinkId chosen = *std::next(links.first, pick(0, count - 1));
    const NodeId a = boost::source(chosen, machine.graph), b = boost::target(chosen, machine.graph);
    for (auto [link, end] = links; link != end; ++link) {
        const NodeId from = boost::source(*link, machine.graph), to = boost::target(*link, machine.graph);
        if (!((from == a && to == b) || (from == b && to == a))) continue;
        machine.graph[*link].plan_rate = machine.graph[*link].plan_rate * factor;
        machine.graph[*link].wire_rate = machine.graph[*link].wire_rate * factor;
    }
    return machine;
}

double any_factor() { return 1 + pick(0, 30) / 10.0; }

TEST(Property, NothingBeatsTheMinCutBound) {
    EXPECT_TRUE(rc::check([] {
        const Subject subject = any_subject();
        const CollectivePrice found =
            price(subject.machine, subject, any_environment(), any_kind(), any_size());
        RC_ASSERT(found.seconds.value() > 0);
        RC_ASSERT(found.busbw.value() <= found.bound_busbw.value() * (1 + kRounding));
    }));
}

TEST(Property, MoreBandwidthNeverLowersTheBound) {
    EXPECT_TRUE(rc::check([] {
        const Subject subject = any_subject();
        const CollectiveKind kind = any_kind();
        const Machine wider = widened(subject.machine, any_factor());
        const CollectivePrice before = price(subject.machine, subject, {}, kind, 1_GiB);
        const CollectivePrice after = price(wider, subject, {}, kind, 1_GiB);
        RC_ASSERT(after.bound_busbw.value() >= before.bound_busbw.value() * (1 - kRounding));
    }));
}

// A ring over the ranks in a given order and on given links, and the chain that a tree is within a server.
TEST(Property, MoreBandwidthNeverSlowsAFixedRingOrTree) {
    EXPECT_TRUE(rc::check([] {
        const Subject subject = any_subject();
        const NcclEnvironment environment = any_environment();
        const Machine wider = widened(subject.machine, any_factor());
        std::vector<Ring> rings;
        const int ranks = static_cast<int>(subject.gpus.size());
        const int count = pick(1, 3);
        for (int ring = 0; ring < count; ++ring) rings.push_back({shuffled(first(ranks)), 1.0 / count, {}});
        const GroupWires before(subject.machine, environment, subject.gpus);
        const GroupWires after(wider, environment, subject.gpus);
        for (const Tour tour : {Tour::ring, Tour::chain}) {
            const LinkLoad load = tour_load(before, rings, tour);
            const double rate = narrowest(before.wires(), load).rate;
            RC_ASSERT(narrowest(after.wires(), load).rate >= rate * (1 - kRounding));
        }
    }));
}

// Rings are the most that the wires carry together (see ring_search.hpp), which a wider link cannot lower;
// what is left are steps of the ladder of channels and of the tuner. RC_PARAMS="max_success=20000" looks
// further.
TEST(Property, MoreBandwidthCostsTheSearchedAnswerLittle) {
    EXPECT_TRUE(rc::check([] {
        const Subject subject = any_subject();
        const CollectiveKind kind = any_kind();
        const Bytes bytes = any_size();
        const NcclEnvironment environment = any_environment();
        const double factor = any_factor();
        const Machine wider = widened(subject.machine, factor);
        const CollectivePrice before = price(subject.machine, subject, environment, kind, bytes);
        const CollectivePrice after = price(wider, subject, environment, kind, bytes);
        RC_LOG() << subject.machine.name << ' ' << name_of(kind) << ' ' << bytes.count() << " on "
                 << subject.gpus.size() << " GPUs, a link " << factor << " times as wide, NVLS "
                 << environment.nvls << ", P2P " << !environment.p2p_disable;
        RC_ASSERT(after.seconds.value() <= before.seconds.value() * 1.05);
    }));
}

// Links that no hop of the group crosses, taken out.
Machine without_unused(Machine machine, const Subject& subject, const NcclEnvironment& environment) {
    const GroupWires wires(machine, environment, subject.gpus);
    std::set<int> used;
    for (int from = 0; from < wires.ranks(); ++from)
        for (int to = 0; to < wires.ranks(); ++to)
            if (from != to)
                for (const LinkUse& use : wires.hop(from, to).uses) used.insert(use.link);
    boost::remove_edge_if(
        [&](const LinkId& link) {
            const MachineLink& of = machine.graph[link];
            return of.kind != LinkKind::root && !used.contains(of.id);
        },
        machine.graph);
    int id = 0;
    for (auto [link, end] = boost::edges(machine.graph); link != end; ++link) machine.graph[*link].id = id++;
    return machine;
}

TEST(Property, UnusedLinksDoNotMatter) {
    EXPECT_TRUE(rc::check([] {
        const Subject subject = any_subject();
        const CollectiveKind kind = any_kind();
        const Bytes bytes = any_size();
        const NcclEnvironment environment = any_environment();
        const Machine bare = without_unused(subject.machine, subject, environment);
        const CollectivePrice before = price(subject.machine, subject, environment, kind, bytes);
        const CollectivePrice after = price(bare, subject, environment, kind, bytes);
        RC_ASSERT(after.seconds.value() == before.seconds.value());
        RC_ASSERT(after.channels == before.channels);
    }));
}

void expect_alike(const Subject& subject, const Subject& other, CollectiveKind kind, double slack) {
    const Bytes bytes = any_size();
    const NcclEnvironment environment = any_environment();
    const double before = price(subject.machine, subject, environment, kind, bytes).seconds.value();
    const double after = price(other.machine, other, environment, kind, bytes).seconds.value();
    RC_LOG() << subject.machine.name << ' ' << name_of(kind) << ' ' << bytes.count() << " on "
             << subject.gpus.size() << " GPUs";
    RC_ASSERT(after <= before * (1 + slack));
    RC_ASSERT(before <= after * (1 + slack));
}

// The same GPUs in the same rank order under other numbers.
TEST(Property, NumbersOfGpusDoNotMatter) {
    EXPECT_TRUE(rc::check([] {
        const Subject subject = any_subject();
        const std::vector<int> order = shuffled(first(subject.machine.gpus_per_server()));
        Subject other{relabelled(subject.machine, order), {}};
        for (const int gpu : subject.gpus)
            other.gpus.push_back(
                static_cast<int>(std::find(order.begin(), order.end(), gpu) - order.begin()));
        expect_alike(subject, other, any_kind(), kRounding);
    }));
}

}  // namespace
}  // namespace wirewise::test
