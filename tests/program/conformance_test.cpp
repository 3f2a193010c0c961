// The closed set of ops: one program holds them all, and every interpreter of this floor takes it.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "model/program/memory_plan.hpp"
#include "model/program/trace.hpp"
#include "model/program/verify.hpp"
#include "model/program/walk.hpp"
#include "tests/program/every_op.hpp"

namespace wirewise {
namespace {

TEST(EveryOp, IsThere) {
    const StepProgram program = testing::every_op();
    std::set<std::size_t> payloads, kernels;
    for (const Op& op : program.ops) payloads.insert(op.payload.index());
    for (const Kernel& kernel : program.kernels) kernels.insert(kernel.index());
    EXPECT_EQ(payloads.size(), std::variant_size_v<Payload>);
    EXPECT_EQ(kernels.size(), std::variant_size_v<Kernel>);
}

TEST(EveryOp, IsSound) {
    for (const Fault& fault : verify(testing::every_op())) ADD_FAILURE() << fault.text;
    const StepProgram program = testing::every_op();
    const StepProgram* ranks[] = {&program, &program};
    EXPECT_TRUE(verify_group(ranks).empty());
}

TEST(EveryOp, HasALineOfText) {
    const StepProgram program = testing::every_op();
    const std::string text = to_text(program);
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    const std::size_t axes = 2, head = 1;
    EXPECT_EQ(lines, head + program.streams.size() + axes + program.buffers.size() + program.ops.size());
}

TEST(EveryOp, IsWalkedPlannedTimedAndTraced) {
    const StepProgram program = testing::every_op();
    MemoryWalk walk(make_arena());
    EXPECT_EQ(walk.run(program).allocated, Bytes(1024 + 4096 + 1024 + 2048 + 1024));
    const StepProgram* programs[] = {&program};
    EXPECT_EQ(plan_memory(programs).bytes, walk.reserved());

    Timeline timeline;
    for (std::uint32_t i = 0; i < program.ops.size(); ++i)
        timeline.spans.push_back({OpId{i}, program.ops[i].stream, Instant(i), Instant(i + 1)});
    timeline.end = Instant(static_cast<std::int64_t>(program.ops.size()));
    EXPECT_GT(summarize(program, timeline).compute.value(), 0);
    std::ostringstream trace;
    write_trace(trace, std::vector{TraceSource{"rank 0", &program, &timeline}});
    EXPECT_NE(trace.str().find("all_gather"), std::string::npos);
}

}  // namespace
}  // namespace wirewise
