// Small programs computed by hand; all times in picoseconds.
#include <gtest/gtest.h>

#include "tests/simulator/setting.hpp"

namespace wirewise {
namespace {

// Of a GEMM of one tile and k = 1 under round_profile(): 100 SMs x 128 x 256 x 2 flop at 1 Tflop/s.
constexpr std::int64_t kGemm = 6'553'600;
const Gemm one_gemm{.m = 128, .n = 256, .k = 1};

struct Setting {
    CostProfile profile = round_profile();
    CollectiveCost wires = byte_costs();
    RuntimeCosts runtime{};
    ProgramBuilder build{Phase::steady_step};
    StreamId compute = build.stream("compute", StreamKind::compute);
    StreamId communication = build.stream("communication", StreamKind::communication);
    StreamId second = build.stream("second communication", StreamKind::communication);

    OpId kernel(StreamId stream, std::int64_t picoseconds) {
        return build.compute(stream, "kernel", vector_kernel(picoseconds), {});
    }
    OpId gemm() {
        build.at_layer(0);
        return build.compute(compute, "gemm", one_gemm, {});
    }
    OpId call(StreamId stream, std::int64_t picoseconds, Axis axis = Axis::shard) {
        return build.collective(stream, "gather", gather(picoseconds, axis), {});
    }
    void run() {
        program = std::move(build).finish();
        timeline = simulate(program, profile, wires, runtime);
    }
    StepProgram program;
    Timeline timeline;

    const Span& span(OpId op) const {
        for (const Span& s : timeline.spans)
            if (s.op == op) return s;
        throw std::out_of_range("no span");
    }
    std::int64_t begin(OpId op) const { return span(op).begin.count(); }
    std::int64_t end(OpId op) const { return span(op).end.count(); }
};

TEST(Simulate, TwoStreamsOverlap) {
    Setting s;
    const OpId a = s.kernel(s.compute, 100), b = s.call(s.communication, 70), c = s.kernel(s.compute, 20);
    s.run();
    EXPECT_EQ(s.begin(a), 0);
    EXPECT_EQ(s.end(b), 70);
    EXPECT_EQ(s.begin(c), 100);
    EXPECT_EQ(s.timeline.end.count(), 120);
}

TEST(Simulate, WaitsOrderStreams) {
    Setting s;
    const OpId a = s.kernel(s.compute, 100);
    s.build.join(s.communication, s.compute);
    const OpId b = s.call(s.communication, 50);
    const OpId c = s.kernel(s.compute, 30);  // beside b
    s.build.join(s.compute, s.communication);
    const OpId d = s.kernel(s.compute, 10);
    s.run();
    EXPECT_EQ(s.begin(b), s.end(a));
    EXPECT_EQ(s.begin(c), 100);
    EXPECT_EQ(s.begin(d), 150);
    EXPECT_EQ(s.timeline.end.count(), 160);
}

TEST(Simulate, CollectivesOfOneAxisRunOneAtATimeInIssueOrder) {
    Setting s;
    s.kernel(s.communication, 40);  // the first call's stream is late
    const OpId first = s.call(s.communication, 50);
    const OpId next = s.call(s.second, 10);
    const OpId other = s.call(s.second, 5, Axis::replicate);
    s.run();
    EXPECT_EQ(s.begin(first), 40);
    EXPECT_EQ(s.begin(next), 90);
    EXPECT_EQ(s.end(next), 100);
    EXPECT_EQ(s.begin(other), 100);
}

TEST(Simulate, CollectivesOfTwoAxesShareTheLink) {
    Setting s;
    const OpId a = s.call(s.communication, 100), b = s.call(s.second, 50, Axis::replicate);
    s.run();
    EXPECT_EQ(s.end(b), 100);
    EXPECT_EQ(s.end(a), 150);
}

TEST(Simulate, CollectiveTakesMultiprocessorsFromCompute) {
    Setting s;
    s.wires = byte_costs(20);  // of 100
    s.profile.contention.vector_share = 0.4;
    const OpId call = s.call(s.communication, 2 * kGemm);
    const OpId matrix = s.gemm();
    const OpId vector = s.kernel(s.compute, 1'000'000);
    s.run();
    EXPECT_EQ(s.end(call), 2 * kGemm);
    EXPECT_EQ(s.end(matrix), kGemm * 5 / 4);
    EXPECT_EQ(s.end(vector) - s.begin(vector), 1'100'000);
}

TEST(Simulate, ComputeSpeedsUpWhenTheCollectiveEnds) {
    Setting s;
    s.wires = byte_costs(50);  // half of the SMs: matrix kernels at half speed
    s.call(s.communication, kGemm);
    const OpId matrix = s.gemm();
    s.run();
    EXPECT_EQ(s.end(matrix), kGemm + kGemm / 2);
}

TEST(Simulate, CollectiveWaitsForRunningKernels) {
    Setting s;
    s.profile.contention.start_delay = 2;  // x mean remaining time: half of the one kernel kind
    s.wires = byte_costs(0);
    for (int i = 0; i < 3; ++i) s.gemm();
    const OpId call = s.call(s.communication, 1000);
    s.run();
    EXPECT_EQ(s.begin(call), 0);  // resident from here
    EXPECT_EQ(s.end(call), kGemm + 1000);
}

// What was measured of a transport takes the place of its channels' share.
TEST(Simulate, ATransportAndComputeTakeFromEachOtherWhatWasMeasured) {
    Setting s;
    s.wires = byte_costs(50);
    s.profile.contention.start_delay = 10;
    s.profile.contention.wires["p2p"] = {.slowdown = 0.25, .start_delay = 0, .collective_slowdown = 0.5};
    const OpId call = s.call(s.communication, kGemm);
    const OpId matrix = s.gemm();
    s.run();
    EXPECT_EQ(s.begin(call), 0);
    EXPECT_EQ(s.end(matrix), kGemm * 5 / 4);                        // beside the collective all the time
    EXPECT_EQ(s.end(call), kGemm + kGemm * 5 / 4 - kGemm * 5 / 6);  // 5/6 of it were done when compute ended
}

TEST(Simulate, CollectiveStartsAtOnceWhenComputeIsIdle) {
    Setting s;
    s.profile.contention.start_delay = 10;
    s.gemm();
    const OpId call = s.call(s.communication, 1000);
    s.run();
    EXPECT_EQ(s.end(call), kGemm + 1000);  // compute ran dry before the ten had passed
}

TEST(Simulate, SideKernelStopsCompute) {
    Setting s;
    s.profile.contention.side_kernel_rate = 0.5;
    const OpId side = s.kernel(s.communication, 100), main = s.kernel(s.compute, 300);
    s.run();
    EXPECT_EQ(s.end(side), 200);
    EXPECT_EQ(s.end(main), 500);
}

TEST(Simulate, CopiesOfOneDirectionShareTheirEngine) {
    Setting s;
    const auto copy = [&](StreamId stream, MemorySpace from, MemorySpace to, std::int64_t bytes) {
        return s.build.copy(stream, "copy", {from, to, Bytes(bytes)}, {});
    };
    const OpId out = copy(s.communication, MemorySpace::device, MemorySpace::host, 100);
    const OpId in = copy(s.second, MemorySpace::host, MemorySpace::device, 100);
    const OpId also_out = copy(s.compute, MemorySpace::device, MemorySpace::host, 100);
    s.run();
    EXPECT_EQ(s.end(in), 100);
    EXPECT_EQ(s.end(out), 200);
    EXPECT_EQ(s.end(also_out), 200);
}

TEST(Simulate, HostBoundStepTakesTheHostsTime) {
    Setting s;
    s.runtime.kernel = Seconds(100e-12);
    for (int i = 0; i < 10; ++i) s.kernel(s.compute, 30);
    s.run();
    EXPECT_EQ(s.timeline.end.count(), 1030);  // the last launch, then its kernel
    EXPECT_EQ(s.timeline.host_end.count(), 1000);
    EXPECT_TRUE(summarize(s.program, s.timeline).host_bound);
}

TEST(Simulate, HostRunsAheadOfABusyGpu) {
    Setting s;
    s.runtime.kernel = Seconds(10e-12);
    s.runtime.run_ahead = 100;
    for (int i = 0; i < 10; ++i) s.kernel(s.compute, 100);
    s.run();
    EXPECT_EQ(s.timeline.end.count(), 1000);  // the first launch lies in the step before
    EXPECT_FALSE(summarize(s.program, s.timeline).host_bound);
}

TEST(Simulate, SynchronizeMakesTheHostWait) {
    Setting s;
    s.runtime.kernel = Seconds(10e-12);
    s.runtime.synchronize = Seconds(5e-12);
    s.kernel(s.compute, 100);
    s.build.host_work(s.compute, "loss", {HostWorkKind::synchronize, 1});
    const OpId after = s.kernel(s.compute, 100);
    s.run();
    EXPECT_EQ(s.begin(after), 10 + 100 + 5 + 10);
    EXPECT_EQ(s.timeline.end.count(), 225);
}

// A helper stream that waited for an event: the host waits for that event and not for what was issued after
// it.
TEST(Simulate, SynchronizeWaitsForItsStreamAlone) {
    Setting s;
    const StreamId helper = s.build.stream("helper", StreamKind::copy);
    const OpId first = s.kernel(s.compute, 100);
    const EventId done = s.build.record(s.compute);
    s.kernel(s.compute, 1000);
    s.build.wait(helper, done);
    s.build.host_work(helper, "limiter", {HostWorkKind::synchronize, 1});
    const OpId after = s.kernel(s.communication, 10);
    s.run();
    EXPECT_EQ(s.begin(first), 0);
    EXPECT_EQ(s.begin(after), 100);
}

TEST(Simulate, HooksDelayWhatFollows) {
    Setting s;
    s.runtime.hook = Seconds(50e-12);
    s.build.host_work(s.compute, "hook", {HostWorkKind::hook, 2});
    const OpId a = s.kernel(s.compute, 10);
    s.run();
    EXPECT_EQ(s.begin(a), 100);
}

TEST(Simulate, PowerLimitSlowsAStepFullOfProducts) {
    Setting s;
    s.profile.power = {0.5, 0.4, 1.2};
    for (int i = 0; i < 10; ++i) s.gemm();
    s.run();
    EXPECT_EQ(s.timeline.end.count(), 12 * kGemm);
}

TEST(Simulate, AnEventThatNobodyRecordsIsABrokenProgram) {
    Setting s;
    StepProgram program = std::move(s.build).finish();
    program.event_count = 1;
    Op op;
    op.payload = Wait{EventId{0}};
    program.ops.push_back(op);
    EXPECT_THROW(simulate(program, s.profile, s.wires, s.runtime), InvariantError);
}

TEST(Simulate, EmptyProgramTakesNoTime) {
    Setting s;
    s.run();
    EXPECT_EQ(s.timeline.end.count(), 0);
}

}  // namespace
}  // namespace wirewise
