// The program that holds every op, on two ranks: none is left out, and all end.
#include <gtest/gtest.h>

#include <set>

#include "executor/cuda/rank.hpp"
#include "executor/host/group.hpp"
#include "executor/host/rank_team.hpp"
#include "tests/gpu/device_values.hpp"
#include "tests/host/every_kernel.hpp"

namespace wirewise {
namespace {

std::set<std::size_t> timed_ops(const StepProgram& program) {
    std::set<std::size_t> ids;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const Payload& payload = program.ops[i].payload;
        if (std::holds_alternative<Compute>(payload) || std::holds_alternative<Collective>(payload) ||
            std::holds_alternative<Send>(payload) || std::holds_alternative<Receive>(payload) ||
            std::holds_alternative<Copy>(payload))
            ids.insert(i);
    }
    return ids;
}

TEST(CudaConformance, EveryOpRunsOnTwoRanks) {
    WIREWISE_NEEDS_GPU();
    const StepProgram program = test::every_kernel();
    const Transformer model = test::every_kernel_model();
    const ParallelPlan plan{
        .strategy = Strategy::fsdp, .mesh = {.shard = 2}, .sequence_length = test::kEveryTokens};
    const Hyperparameters numbers{.max_gradient_norm = 1};
    const StepProgram* const programs[] = {&program};
    const MemoryPlan memory = plan_memory(programs);
    ThreadGroups groups(1, 2);
    RankTeam team(2, [&] { groups.close(); });
    const std::vector<std::int32_t> tokens{1, 2, 3, 4};
    std::vector<Timeline> timelines(2);
    team.run([&](int rank) {
        cuda::Rank own(program, model, plan, numbers, memory,
                       cuda::make_staged_groups({rank, 1, 2}, groups.of(rank)));
        own.feed(tokens);
        own.run(1, true);
        timelines[static_cast<std::size_t>(rank)] = own.timeline();
    });
    for (const Timeline& timeline : timelines) {
        std::set<std::size_t> ran;
        for (const Span& span : timeline.spans) ran.insert(index_of(span.op));
        EXPECT_EQ(ran, timed_ops(program));
    }
}

}  // namespace
}  // namespace wirewise
