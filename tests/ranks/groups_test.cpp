// Groups over sockets against groups of threads: the same bits, for every collective, dtype and count.
#include <gtest/gtest.h>

#include <cstring>

#include "executor/host/group.hpp"
#include "executor/host/rank_team.hpp"
#include "executor/ranks/socket_groups.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/random.hpp"
#include "tests/ranks/together.hpp"

namespace wirewise {
namespace {

using Buffers = std::vector<std::vector<std::byte>>;  // by rank

struct Case {
    CollectiveKind kind;
    DType dtype;
    std::int64_t count;
    bool average;
};

Buffers filled(int ranks, const Case& test) {
    Buffers all;
    for (int rank = 0; rank < ranks; ++rank) {
        std::vector<float> values(static_cast<std::size_t>(test.count));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] =
                static_cast<float>(unit_interval(random_bits(static_cast<std::uint64_t>(rank), i))) - 0.5F;
        all.emplace_back(values.size() * static_cast<std::size_t>(size_of(test.dtype)));
        narrow(values, test.dtype, all.back().data());
    }
    return all;
}

// In place where `to` is `from`.
void run(RankGroup& group, const Case& test, std::vector<std::byte>& from, std::vector<std::byte>& to) {
    group.run({test.kind, test.dtype, test.count, test.average, from.data(), to.data()});
}

const Case kCases[] = {{CollectiveKind::all_reduce, DType::fp32, 1, false},
                       {CollectiveKind::all_reduce, DType::fp32, 1201, true},
                       {CollectiveKind::all_reduce, DType::bf16, 7777, false},
                       {CollectiveKind::all_reduce, DType::bf16, 100'003, true},
                       {CollectiveKind::reduce_scatter, DType::fp32, 12 * 700, true},
                       {CollectiveKind::reduce_scatter, DType::bf16, 12 * 700, true},
                       {CollectiveKind::all_gather, DType::bf16, 12 * 70'000, false},
                       {CollectiveKind::broadcast, DType::fp32, 501, false},
                       {CollectiveKind::all_to_all, DType::bf16, 12 * 50, false}};

class OverSockets : public testing::TestWithParam<int> {};

TEST_P(OverSockets, GivesTheBitsOfThreads) {
    const int n = GetParam();
    for (const Case& test : kCases) {
        Buffers by_threads = filled(n, test), by_sockets = filled(n, test);
        const bool in_place = test.kind == CollectiveKind::all_reduce;
        Buffers to_threads = filled(n, test), to_sockets = to_threads;
        ThreadGroups threads(1, n);
        RankTeam team(n, [&] { threads.close(); });
        team.run([&](int rank) {
            auto& from = by_threads[static_cast<std::size_t>(rank)];
            run(threads.of(rank).along(Axis::world), test, from,
                in_place ? from : to_threads[static_cast<std::size_t>(rank)]);
        });
        EXPECT_EQ(
            test::run_ranks(n,
                            [&](TcpRendezvous& ranks) {
                                PeerLinks links(ranks);
                                SocketGroups groups(links, 1, n);
                                auto& from = by_sockets[static_cast<std::size_t>(ranks.rank())];
                                run(groups.along(Axis::world), test, from,
                                    in_place ? from : to_sockets[static_cast<std::size_t>(ranks.rank())]);
                            }),
            test::all_well(n));
        EXPECT_EQ(by_threads, by_sockets) << name_of(test.kind) << " of " << test.count;
        EXPECT_EQ(to_threads, to_sockets) << name_of(test.kind) << " of " << test.count;
    }
}

INSTANTIATE_TEST_SUITE_P(Counts, OverSockets, testing::Values(1, 2, 3, 4, 6));

TEST(SocketGroups, FollowTheMesh) {
    EXPECT_EQ(test::run_ranks(6,
                              [](TcpRendezvous& ranks) {
                                  PeerLinks links(ranks);
                                  SocketGroups groups(links, 2, 3);
                                  EXPECT_EQ(groups.along(Axis::shard).size(), 3);
                                  EXPECT_EQ(groups.along(Axis::shard).member(), ranks.rank() % 3);
                                  EXPECT_EQ(groups.along(Axis::replicate).size(), 2);
                                  EXPECT_EQ(groups.along(Axis::replicate).member(), ranks.rank() / 3);
                                  EXPECT_EQ(groups.along(Axis::world).member(), ranks.rank());
                              }),
              test::all_well(6));
}

// More than sockets hold, around a ring: everybody sends first.
TEST(SocketGroups, LargeMessagesDoNotBlockOneAnother) {
    constexpr std::size_t kBytes = std::size_t{24} << 20;
    EXPECT_EQ(test::run_ranks(3,
                              [](TcpRendezvous& ranks) {
                                  PeerLinks links(ranks);
                                  SocketGroups groups(links, 1, 3);
                                  RankGroup& world = groups.along(Axis::world);
                                  const int own = ranks.rank(), left = (own + 2) % 3;
                                  const std::vector<std::byte> sent(kBytes, static_cast<std::byte>(own));
                                  std::vector<std::byte> got(kBytes);
                                  world.send((own + 1) % 3, sent);
                                  world.receive(left, got);
                                  EXPECT_EQ(got,
                                            std::vector<std::byte>(kBytes, static_cast<std::byte>(left)));
                              }),
              test::all_well(3));
}

TEST(SocketGroups, FreeThoseWhoWaitForARankThatFails) {
    const auto failures = test::run_ranks(3, [](TcpRendezvous& ranks) {
        PeerLinks links(ranks);
        SocketGroups groups(links, 1, 3);
        if (ranks.rank() == 1) throw std::runtime_error("gave up");
        std::vector<std::byte> buffer(4000);
        groups.along(Axis::world)
            .run({CollectiveKind::all_reduce, DType::fp32, 1000, false, buffer.data(), buffer.data()});
    });
    EXPECT_EQ(failures, (std::vector<std::string>{"rank 1: gave up", "gave up", "rank 1: gave up"}));
}

}  // namespace
}  // namespace wirewise
