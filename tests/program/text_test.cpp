#include <gtest/gtest.h>

#include "tests/program/tiny_program.hpp"

namespace wirewise {
namespace {

TEST(ProgramText, IsTheGoldenFormOfTheTinyStep) {
    EXPECT_EQ(to_text(testing::tiny_step()),
              R"(program steady_step, memory free after join
stream compute (compute)
stream wire (communication)
b0 "weight" parameter bf16 4096 B persistent on compute
b1 "gradient" gradient bf16 4096 B persistent on compute
b2 "moments" optimizer fp32 16384 B persistent on compute
b3 "input" activation bf16 1024 B persistent on compute
b4 "layer 0 / output" activation bf16 2048 B transient on compute
0 forward.0 compute "layer 0 / linear" gemm forward 16x64x32 bf16: b3 input, b0 weight -> b4 output
1 backward.0 compute "layer 0 / linear weight gradient" gemm weight_gradient 64x32x16 bf16: b4 output, b3 input -> b1 gradient
2 backward.0 compute "layer 0 / record" e0
3 backward.0 wire "layer 0 / wait" e0
4 backward.0 wire "layer 0 / reduce" all_reduce world bf16 4096 B average: updates b1 gradient
5 update.0 wire "layer 0 / record" e1
6 update.0 compute "layer 0 / wait" e1
7 update.0 compute "layer 0 / adamw" adamw_fused 2048 parameter bf16 gradient bf16 state fp32 53248 B: b1 gradient; updates b0 weight, b2 moments
)");
}

TEST(ProgramText, NamesThePlaceOfAnOp) {
    EXPECT_EQ(place_of(testing::tiny_step().ops[1]),
              "backward, micro-batch 0, layer 0, linear weight gradient");
}

TEST(Builder, GivesEqualKernelsOneId) {
    ProgramBuilder build(Phase::steady_step);
    const StreamId s = build.stream("compute", StreamKind::compute);
    const BufferId x = build.transient("x", Bytes(64), DType::bf16, Role::activation, s);
    for (const std::int64_t m : {8, 16, 8})
        build.compute(s, "gemm", Gemm{.m = m, .n = 4, .k = 2}, {build.write(x)});
    const StepProgram program = std::move(build).finish();
    EXPECT_EQ(program.kernels.size(), 2u);
    EXPECT_EQ(std::get<Compute>(program.ops[0].payload).kernel,
              std::get<Compute>(program.ops[2].payload).kernel);
}

TEST(Builder, OwnsInternedNamesAndRefusesNegativeSizes) {
    StepProgram program;
    {
        ProgramBuilder build(Phase::load);
        const StreamId s = build.stream("compute", StreamKind::compute);
        build.persistent(build.intern("long name number " + std::to_string(7)), Bytes(0), DType::bf16,
                         Role::workspace, s);
        EXPECT_THROW(build.transient("x", Bytes(-1), DType::bf16, Role::workspace, s), InvariantError);
        program = std::move(build).finish();
    }
    EXPECT_EQ(to_text(program.buffers[0].name), "long name number 7");
}

}  // namespace
}  // namespace wirewise
