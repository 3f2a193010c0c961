// One program that holds every op, and all four interpreters: none may leave an op out.
#include <gtest/gtest.h>

#include <set>

#include "executor/host/group.hpp"
#include "executor/host/rank.hpp"
#include "executor/host/rank_team.hpp"
#include "executor/training/rope_frequencies.hpp"
#include "model/cost/runtime_costs.hpp"
#include "model/program/verify.hpp"
#include "model/program/walk.hpp"
#include "simulator/simulate.hpp"
#include "tests/host/every_kernel.hpp"

namespace wirewise {
namespace {

using OpIds = std::set<std::size_t>;

// Ops that take time on a stream; the others order, allocate or describe.
OpIds timed_ops(const StepProgram& program) {
    OpIds ids;
    for (std::size_t i = 0; i < program.ops.size(); ++i)
        if (std::visit(
                Overloaded{[](const Compute&) { return true; }, [](const Collective&) { return true; },
                           [](const Send&) { return true; }, [](const Receive&) { return true; },
                           [](const Copy&) { return true; }, [](const Record&) { return false; },
                           [](const Wait&) { return false; }, [](const Allocate&) { return false; },
                           [](const Release&) { return false; }, [](const HostWork&) { return false; }},
                program.ops[i].payload))
            ids.insert(i);
    return ids;
}

OpIds ops_of(const Timeline& timeline) {
    OpIds ids;
    for (const Span& span : timeline.spans) ids.insert(index_of(span.op));
    return ids;
}

// Both ranks' timelines.
std::vector<Timeline> executed(const StepProgram& program) {
    const Transformer model = test::every_kernel_model();
    ParallelPlan plan{
        .strategy = Strategy::fsdp, .mesh = {.shard = 2}, .sequence_length = test::kEveryTokens};
    const Hyperparameters numbers{.max_gradient_norm = 1};
    const host::RopeTable rope = host::rope_table(rope_frequencies(model, 4), test::kEveryTokens);
    const StepProgram* const programs[] = {&program};
    const MemoryPlan memory = plan_memory(programs);
    ThreadGroups groups(1, 2);
    std::vector<std::unique_ptr<Rank>> ranks(2);
    RankTeam team(2, [&] { groups.close(); });
    const std::vector<std::int32_t> tokens{1, 2, 3, 4};
    team.run([&](int rank) {
        auto& own = ranks[static_cast<std::size_t>(rank)];
        own = std::make_unique<Rank>(program, model, plan, numbers, rope, memory, groups.of(rank), rank);
        own->feed(tokens);
        own->run(1, {});
    });
    return {ranks[0]->timeline(), ranks[1]->timeline()};
}

Timeline simulated(const StepProgram& program) {
    const CostProfile profile = profile_from_data_sheet(gpu_model("h200-sxm"));
    const CollectiveCost wires = [](Axis, CollectiveKind, Bytes) {
        CollectivePrice price;
        price.seconds = Seconds(1e-5);
        price.channels = 2;
        return price;
    };
    return simulate(program, profile, wires, profile.runtime("native"));
}

TEST(Conformance, TheProgramHoldsEveryOp) {
    const StepProgram program = test::every_kernel();
    for (const Fault& fault : verify(program)) ADD_FAILURE() << fault.text;
    std::set<std::size_t> payloads;
    std::set<PointwiseKind> kinds;
    std::set<GemmLayout> layouts;
    std::set<CollectiveKind> collectives;
    for (const Op& op : program.ops) {
        payloads.insert(op.payload.index());
        if (const auto* call = std::get_if<Collective>(&op.payload)) collectives.insert(call->kind);
    }
    for (const Kernel& kernel : program.kernels) {
        if (const auto* pointwise = std::get_if<Pointwise>(&kernel)) kinds.insert(pointwise->kind);
        if (const auto* gemm = std::get_if<Gemm>(&kernel)) layouts.insert(gemm->layout);
    }
    EXPECT_EQ(payloads.size(), std::variant_size_v<Payload>);
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(PointwiseKind::eager));  // all before it
    EXPECT_EQ(layouts.size(), 3U);
    EXPECT_EQ(collectives.size(), kCollectiveNames.size() - 1);  // send_recv is two ops of its own
}

TEST(Conformance, EveryInterpreterTakesEveryOp) {
    const StepProgram program = test::every_kernel();
    const OpIds expected = timed_ops(program);
    EXPECT_EQ(ops_of(simulated(program)), expected);
    for (const Timeline& timeline : executed(program)) EXPECT_EQ(ops_of(timeline), expected);

    MemoryWalk walk(make_arena());
    std::vector<Bytes> allocated;
    walk.run(program, {.allocated_by_op = &allocated});
    EXPECT_EQ(allocated.size(), program.ops.size());
    EXPECT_GT(allocated.back(), Bytes(0));
}

// The check above would catch an interpreter that passes over an op.
TEST(Conformance, ASkippedOpIsNoticed) {
    const StepProgram program = test::every_kernel();
    Timeline timeline = executed(program).front();
    timeline.spans.erase(timeline.spans.begin() + 7);
    EXPECT_NE(ops_of(timeline), timed_ops(program));
}

TEST(Conformance, AKernelOfAnotherRuntimeIsRefused) {
    ProgramBuilder builder(Phase::steady_step);
    const StreamId compute = builder.stream("compute", StreamKind::compute);
    const BufferId x = builder.persistent("x", Bytes(64), DType::fp32, Role::activation, compute);
    builder.compute(compute, "eager op", Pointwise{.kind = PointwiseKind::eager}, {builder.update(x)});
    const StepProgram program = std::move(builder).finish();
    EXPECT_THROW(executed(program), std::exception);
}

}  // namespace
}  // namespace wirewise
