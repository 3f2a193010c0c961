// What holds for every program: bounds from closed forms, monotonicity, determinism.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/cost/kernel_time.hpp"
#include "tests/simulator/setting.hpp"
#include "tests/simulator/sharded_step.hpp"

namespace wirewise {
namespace {

// A random program: kernels, collectives, copies and joins on four streams.
StepProgram random_program() {
    ProgramBuilder build(Phase::steady_step);
    std::array<StreamId, 4> streams{
        build.stream("compute", StreamKind::compute), build.stream("gather", StreamKind::communication),
        build.stream("reduce", StreamKind::communication), build.stream("copy", StreamKind::copy)};
    const int count = *rc::gen::inRange(1, 60);
    for (int i = 0; i < count; ++i) {
        const StreamId stream = streams[*rc::gen::inRange<std::size_t>(0, 4)];
        const auto size = *rc::gen::inRange<std::int64_t>(0, 10'000'000);
        build.at_layer(*rc::gen::inRange(0, 3));
        switch (*rc::gen::inRange(0, 5)) {
            case 0:
                build.compute(stream, "vector", vector_kernel(size), {});
                break;
            case 1:
                build.compute(streams[0], "product", Gemm{.m = 256, .n = 256, .k = 1 + size / 1000}, {});
                break;
            case 2:
                build.collective(stream, "call", gather(size, size % 2 ? Axis::shard : Axis::replicate), {});
                break;
            case 3:
                build.copy(stream, "copy", {MemorySpace::device, MemorySpace::host, Bytes(size)}, {});
                break;
            default:
                build.join(streams[*rc::gen::inRange<std::size_t>(0, 4)], stream);
        }
    }
    return std::move(build).finish();
}

struct World {
    CostProfile profile = round_profile();
    CollectiveCost wires = byte_costs(20);
    RuntimeCosts runtime{};

    World() {
        profile.contention = {0.5, 2, 0.4};
        runtime.kernel = runtime.collective = runtime.copy = Seconds(50'000e-12);
        runtime.event = Seconds(1'000e-12);
        runtime.run_ahead = 10;
    }
    Timeline run(const StepProgram& program) const { return simulate(program, profile, wires, runtime); }

    // Alone, at the fastest clock.
    std::int64_t alone(const StepProgram& program, const Op& op) const {
        const auto seconds = std::visit(
            Overloaded{[&](const Compute& x) { return kernel_time(program.at(x.kernel), profile); },
                       [&](const Collective& x) { return wires(x.axis, x.kind, x.bytes).seconds; },
                       [&](const Copy& x) { return x.bytes / profile.copy.device_to_host; },
                       [](const auto&) { return Seconds(0); }},
            op.payload);
        return to_instant(seconds).count();
    }
};

RC_GTEST_PROP(Bounds, NoStreamIsFasterThanItsWork, ()) {
    const World world;
    const StepProgram program = random_program();
    std::vector<std::int64_t> busy(program.streams.size());
    for (const Op& op : program.ops) busy[index_of(op.stream)] += world.alone(program, op);
    const Timeline timeline = world.run(program);
    for (const std::int64_t b : busy) RC_ASSERT(timeline.end.count() >= b);
}

RC_GTEST_PROP(Bounds, NoStepIsFasterThanItsCriticalPath, ()) {
    const World world;
    const StepProgram program = random_program();
    std::vector<std::int64_t> at(program.streams.size()), events(program.event_count);
    for (const Op& op : program.ops) {
        std::int64_t& now = at[index_of(op.stream)];
        if (const auto* record = std::get_if<Record>(&op.payload)) events[index_of(record->event)] = now;
        if (const auto* wait = std::get_if<Wait>(&op.payload))
            now = std::max(now, events[index_of(wait->event)]);
        now += world.alone(program, op);
    }
    RC_ASSERT(world.run(program).end.count() >= *std::max_element(at.begin(), at.end()));
}

RC_GTEST_PROP(Bounds, NoStepIsFasterThanItsHost, ()) {
    const World world;
    const StepProgram program = random_program();
    std::int64_t host = 0;
    for (const Op& op : program.ops)
        host += std::holds_alternative<Record>(op.payload) || std::holds_alternative<Wait>(op.payload)
                    ? 1'000
                    : 50'000;
    RC_ASSERT(world.run(program).end.count() >= host);
}

RC_GTEST_PROP(Bounds, SpansAreOrderedAndStreamsAreFifos, ()) {
    const World world;
    const StepProgram program = random_program();
    const Timeline timeline = world.run(program);
    std::vector<Instant> free_at(program.streams.size());
    std::vector<std::int64_t> last_op(program.streams.size(), -1);
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const Span& span = timeline.spans[i];
        const std::size_t s = index_of(span.stream);
        const auto op = static_cast<std::int64_t>(span.op);
        RC_ASSERT(span.begin >= free_at[s]);
        RC_ASSERT(span.end >= span.begin && span.end <= timeline.end);
        RC_ASSERT(op > last_op[s]);
        if (i > 0) RC_ASSERT(span.begin >= timeline.spans[i - 1].begin);
        free_at[s] = span.end;
        last_op[s] = op;
    }
}

RC_GTEST_PROP(Bounds, RunsAreRepeatable, ()) {
    const World world;
    const StepProgram program = random_program();
    const Timeline a = world.run(program), b = world.run(program);
    RC_ASSERT(a.end == b.end && a.spans.size() == b.spans.size());
    for (std::size_t i = 0; i < a.spans.size(); ++i)
        RC_ASSERT(a.spans[i].op == b.spans[i].op && a.spans[i].begin == b.spans[i].begin &&
                  a.spans[i].end == b.spans[i].end);
}

// A faster part can reorder a step for the worse (Graham's anomaly) only where something competes, so the
// property is asserted for what runs in order: one compute stream with gathers ahead of it and reductions
// behind it.
TEST(Monotone, FasterPartsNeverSlowAShardedStep) {
    const StepProgram program = ShardedStep({8, 6, 12, 2048, 2048}).write();
    World base;
    base.profile.gemm.rate[DType::bf16] = FlopsPerSecond(500e12);
    base.profile.memory.vector_rate = base.profile.optimizer.rate = 4000_GBps;
    const Instant before = base.run(program).end;
    World products = base, memory = base, wires = base, host = base;
    products.profile.gemm.rate[DType::bf16] = FlopsPerSecond(700e12);
    memory.profile.memory.vector_rate = 6000_GBps;
    wires.wires = [](Axis, CollectiveKind, Bytes bytes) {
        CollectivePrice price = byte_costs(20)(Axis::shard, CollectiveKind::all_gather, bytes);
        price.seconds = price.seconds / 2;
        return price;
    };
    host.runtime = {};
    for (const World& faster : {products, memory, wires, host}) EXPECT_LE(faster.run(program).end, before);
}

}  // namespace
}  // namespace wirewise
