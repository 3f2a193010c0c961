// The in-process collectives against sums written down directly, on any number of ranks.
#include <gtest/gtest.h>

#include <stdexcept>

#include "executor/host/group.hpp"
#include "executor/host/rank_team.hpp"
#include "executor/training/convert.hpp"
#include "executor/training/run_error.hpp"

namespace wirewise {
namespace {

using Buffers = std::vector<std::vector<float>>;  // by member

float value_of(int member, std::int64_t i) { return static_cast<float>(member * 1000 + i % 97); }

Buffers filled(int ranks, std::int64_t count) {
    Buffers all(static_cast<std::size_t>(ranks));
    for (int member = 0; member < ranks; ++member)
        for (std::int64_t i = 0; i < count; ++i)
            all[static_cast<std::size_t>(member)].push_back(value_of(member, i));
    return all;
}

// Every member's collective with fp32 buffers of the given lengths, sent from `from` into `to`.
void run(CollectiveKind kind, std::int64_t count, bool average, Buffers& from, Buffers& to) {
    const int ranks = static_cast<int>(from.size());
    Group group(ranks);
    RankTeam team(ranks, [&] { group.close(); });
    team.run([&](int member) {
        const auto index = static_cast<std::size_t>(member);
        group.run(member,
                  {kind, DType::fp32, count, average, reinterpret_cast<const std::byte*>(from[index].data()),
                   reinterpret_cast<std::byte*>(to[index].data())});
    });
}

class OnRanks : public testing::TestWithParam<int> {};

TEST_P(OnRanks, AllReduceSumsAndAverages) {
    const int n = GetParam();
    for (const bool average : {false, true}) {
        Buffers buffers = filled(n, 1201);  // divides by none of the rank counts but one
        run(CollectiveKind::all_reduce, 1201, average, buffers, buffers);
        for (const auto& buffer : buffers)
            for (std::int64_t i = 0; i < 1201; ++i) {
                const double sum = 1000.0 * n * (n - 1) / 2 + static_cast<double>(n * (i % 97));
                ASSERT_NEAR(buffer[static_cast<std::size_t>(i)], average ? sum / n : sum, 1e-3);
            }
    }
}

TEST_P(OnRanks, GatherInvertsScatter) {
    const int n = GetParam();
    const std::int64_t each = 700, count = each * n;
    Buffers whole = filled(n, count), shares(whole.size(), std::vector<float>(each));
    run(CollectiveKind::reduce_scatter, count, false, whole, shares);
    Buffers gathered(whole.size(), std::vector<float>(static_cast<std::size_t>(count)));
    run(CollectiveKind::all_gather, count, false, shares, gathered);
    run(CollectiveKind::all_reduce, count, false, whole, whole);
    EXPECT_EQ(gathered, whole);
}

TEST_P(OnRanks, BroadcastAndAllToAll) {
    const int n = GetParam();
    Buffers from = filled(n, 6 * n), to(from.size(), std::vector<float>(static_cast<std::size_t>(6 * n)));
    run(CollectiveKind::broadcast, 6 * n, false, from, to);
    for (const auto& buffer : to) EXPECT_EQ(buffer, from[0]);
    run(CollectiveKind::all_to_all, 6 * n, false, from, to);
    for (int member = 0; member < n; ++member)
        for (int sender = 0; sender < n; ++sender)
            EXPECT_EQ(to[static_cast<std::size_t>(member)][static_cast<std::size_t>(6 * sender)],
                      value_of(sender, 6 * member));
}

INSTANTIATE_TEST_SUITE_P(Counts, OnRanks, testing::Values(1, 2, 3, 4, 6));

TEST(Collectives, RoundToTheWireAtEveryHop) {
    // 1 + 2^-8 is half a step above 1 in bf16; summing 256 + 1 + 1 from rank 1 on rounds each hop to even.
    const float values[] = {1, 256, 1};
    std::uint16_t stored[3];
    for (int i = 0; i < 3; ++i) stored[i] = to_bf16(values[i]);
    Group group(3);
    RankTeam team(3, [&] { group.close(); });
    team.run([&](int member) {
        auto* const data = reinterpret_cast<std::byte*>(&stored[member]);
        group.run(member, {CollectiveKind::all_reduce, DType::bf16, 1, false, data, data});
    });
    for (const std::uint16_t value : stored) EXPECT_EQ(from_bf16(value), 256);  // not 258
}

TEST(Collectives, MessagesArriveInOrder) {
    Group group(2);
    RankTeam team(2, [&] { group.close(); });
    std::vector<int> got(3);
    team.run([&](int member) {
        for (int i = 0; i < 3; ++i)
            if (member == 0)
                group.send(0, 1, std::as_bytes(std::span(&i, 1)));
            else
                group.receive(1, 0, std::as_writable_bytes(std::span(&got[static_cast<std::size_t>(i)], 1)));
    });
    EXPECT_EQ(got, (std::vector{0, 1, 2}));
}

TEST(ThreadGroups, FollowTheMesh) {
    ThreadGroups groups(2, 3);
    EXPECT_EQ(groups.of(4).along(Axis::shard).member(), 1);
    EXPECT_EQ(groups.of(4).along(Axis::shard).size(), 3);
    EXPECT_EQ(groups.of(4).along(Axis::replicate).member(), 1);
    EXPECT_EQ(groups.of(4).along(Axis::replicate).size(), 2);
    EXPECT_EQ(groups.of(5).along(Axis::world).member(), 5);
    EXPECT_EQ(groups.of(5).along(Axis::world).size(), 6);
}

TEST(RankTeam, FreesThoseWhoWait) {
    Group group(3);
    RankTeam team(3, [&] { group.close(); });
    const auto job = [&](int member) {
        float value = 0;
        auto* const data = reinterpret_cast<std::byte*>(&value);
        if (member == 1) throw std::runtime_error("no more");
        if (member == 2) group.receive(2, 1, std::span(data, 4));
        group.run(member, {CollectiveKind::all_reduce, DType::fp32, 1, false, data, data});
    };
    EXPECT_THROW(team.run(job), RunError);
}

}  // namespace
}  // namespace wirewise
