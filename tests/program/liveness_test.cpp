#include "model/program/liveness.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/program/random_program.hpp"

namespace wirewise {
namespace {

struct TwoStreams {
    ProgramBuilder b;
    StreamId compute = b.stream("compute", StreamKind::compute),
             wire = b.stream("wire", StreamKind::communication);
    explicit TwoStreams(FreeRule rule) : b(Phase::evaluation, rule) {}
    BufferId buffer() { return b.transient("x", Bytes(512), DType::int8, Role::workspace, compute); }
};

// 0 fill, 1-2 join, 3 use on the wire, 4 fill other, 5-6 join back.
Liveness of_buffer_used_on_the_wire(FreeRule rule, bool join_back) {
    TwoStreams s(rule);
    const BufferId x = s.buffer(), y = s.buffer();
    s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(x)});
    s.b.join(s.wire, s.compute);
    s.b.compute(s.wire, "use", Pointwise{}, {s.b.read(x)});
    s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(y)});
    if (join_back) s.b.join(s.compute, s.wire);
    return liveness(std::move(s.b).finish());
}

TEST(Liveness, EndsAtTheJoinForOurRuntime) {
    const Liveness live = of_buffer_used_on_the_wire(FreeRule::after_join, true);
    EXPECT_EQ(live.born_at, (std::vector<std::uint32_t>{0, 4}));
    EXPECT_EQ(live.freed_at, (std::vector<std::uint32_t>{6, 4}));
}

TEST(Liveness, EndsWithTheProgramWithoutAJoin) {
    EXPECT_EQ(of_buffer_used_on_the_wire(FreeRule::after_join, false).freed_at,
              (std::vector<std::uint32_t>{5, 4}));
}

TEST(Liveness, EndsAtTheLastUseForPyTorch) {
    EXPECT_EQ(of_buffer_used_on_the_wire(FreeRule::at_last_use, true).freed_at,
              (std::vector<std::uint32_t>{3, 4}));
}

// x is used on the wire and let go; the host then waits for a stream that has waited for a point of compute:
// before the use's issue (early) or after it.
Liveness of_followed_buffer(bool host_waits, bool early) {
    TwoStreams s(FreeRule::at_last_use);
    const StreamId helper = s.b.stream("helper", StreamKind::copy);
    const BufferId x = s.buffer();
    s.b.follow(x);
    s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(x)});
    const EventId before = s.b.record(s.compute);
    s.b.wait(s.wire, before);
    s.b.compute(s.wire, "use", Pointwise{}, {s.b.read(x)});  // op 3
    const EventId after = s.b.record(s.compute);
    s.b.wait(helper, early ? before : after);
    if (host_waits) s.b.host_work(helper, "wait", {HostWorkKind::synchronize, 1});  // op 6
    return liveness(std::move(s.b).finish());
}

TEST(Liveness, FollowedBuffersCountNoLongerButWaitForTheHost) {
    const Liveness live = of_followed_buffer(true, false);
    EXPECT_EQ(live.dropped_at, (std::vector<std::uint32_t>{3}));
    EXPECT_EQ(live.freed_at, (std::vector<std::uint32_t>{6}));
}

TEST(Liveness, FollowedBuffersOtherwiseWaitForTheProgramsEnd) {
    EXPECT_EQ(of_followed_buffer(false, false).freed_at, (std::vector<std::uint32_t>{6}));
    EXPECT_EQ(of_followed_buffer(true, true).freed_at, (std::vector<std::uint32_t>{7}));
}

TEST(Liveness, AFullLaunchQueueMakesTheHostWaitToo) {
    TwoStreams s(FreeRule::at_last_use);
    const BufferId x = s.buffer(), y = s.buffer();
    s.b.follow(x);
    s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(x)});
    for (int i = 0; i < 1200; ++i) s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(y)});
    const Liveness live = liveness(std::move(s.b).finish());
    EXPECT_EQ(live.dropped_at[index_of(x)], 0U);
    EXPECT_EQ(live.freed_at[index_of(x)], 1000U);
}

TEST(Liveness, StretchesFromAllocateToRelease) {
    TwoStreams s(FreeRule::at_last_use);
    const BufferId x = s.buffer(),
                   kept = s.b.persistent("p", Bytes(1), DType::int8, Role::gradient, s.compute),
                   dropped = s.b.persistent("q", Bytes(1), DType::int8, Role::gradient, s.compute),
                   unused = s.buffer();
    s.b.allocate(x);
    s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(kept), s.b.write(dropped)});
    s.b.compute(s.compute, "fill", Pointwise{}, {s.b.write(x)});
    s.b.record(s.compute);
    s.b.release(std::vector{x, dropped});
    const Liveness live = liveness(std::move(s.b).finish());
    EXPECT_EQ(live.born_at[index_of(x)], 0u);
    EXPECT_EQ(live.freed_at[index_of(x)], 4u);
    EXPECT_EQ(live.freed_at[index_of(dropped)], 4u);
    EXPECT_EQ(live.freed_at[index_of(kept)], Liveness::kNever);
    EXPECT_EQ(live.born_at[index_of(unused)], Liveness::kNever);
}

// Reachability by the definition: an op runs before another when it precedes it on its stream or its record
// is waited for.
std::vector<std::vector<bool>> happens_before(const StepProgram& program) {
    const std::size_t n = program.ops.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
    std::vector<std::size_t> recorded(program.event_count, n);
    const auto host_only = [&](std::size_t i) {
        return std::holds_alternative<Allocate>(program.ops[i].payload) ||
               std::holds_alternative<Release>(program.ops[i].payload);
    };
    for (std::size_t i = 0; i < n; ++i) {
        const auto after = [&](std::size_t earlier) {
            before[earlier][i] = true;
            for (std::size_t k = 0; k < earlier; ++k)
                if (before[k][earlier]) before[k][i] = true;
        };
        if (host_only(i)) continue;
        for (std::size_t k = 0; k < i; ++k)
            if (!host_only(k) && program.ops[k].stream == program.ops[i].stream) after(k);
        if (const auto* record = std::get_if<Record>(&program.ops[i].payload))
            recorded[index_of(record->event)] = i;
        if (const auto* wait = std::get_if<Wait>(&program.ops[i].payload))
            after(recorded[index_of(wait->event)]);
    }
    return before;
}

RC_GTEST_PROP(Liveness, FreesAtTheFirstJoinThatCoversAllUses, ()) {
    const StepProgram program = testing::random_program();
    const Liveness live = liveness(program);
    const auto before = happens_before(program);
    const std::size_t n = program.ops.size();
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        std::vector<std::size_t> uses;
        std::size_t last = n;
        bool dropped = program.buffers[b].lifetime == Lifetime::transient;
        for (std::size_t i = 0; i < n; ++i)
            for (const Operand& operand : program.operands_of(program.ops[i])) {
                if (index_of(operand.buffer) != b) continue;
                last = i;
                if (std::holds_alternative<Release>(program.ops[i].payload))
                    dropped = true;
                else
                    uses.push_back(i);
            }
        if (!dropped) {
            RC_ASSERT(live.freed_at[b] == Liveness::kNever);
            continue;
        }
        // Covered after op i: some op of the home stream up to i follows (or is) each use.
        const auto covered = [&](std::size_t i) {
            return std::all_of(uses.begin(), uses.end(), [&](std::size_t use) {
                if (program.ops[use].stream == program.buffers[b].home) return true;
                for (std::size_t k = use; k <= i; ++k)
                    if (program.ops[k].stream == program.buffers[b].home && before[use][k]) return true;
                return false;
            });
        };
        std::size_t expected = last;
        while (expected < n && !covered(expected)) ++expected;
        RC_ASSERT(live.freed_at[b] == expected);
    }
}

}  // namespace
}  // namespace wirewise
