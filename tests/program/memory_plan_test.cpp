#include "model/program/memory_plan.hpp"

#include <gtest/gtest.h>

#include "model/program/walk.hpp"
#include "tests/program/tiny_program.hpp"

namespace wirewise {
namespace {

TEST(MemoryPlan, PutsPersistentBuffersFirstAndTheSameInAllPrograms) {
    const StepProgram first = testing::tiny_step(), second = testing::tiny_step();
    const StepProgram* programs[] = {&first, &second};
    const MemoryPlan plan = plan_memory(programs);
    EXPECT_EQ(plan.persistent_bytes, Bytes(4096 + 4096 + 16384 + 1024));
    EXPECT_EQ(plan.bytes, plan.persistent_bytes + Bytes(2048));
    EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
    EXPECT_EQ(plan.offsets[0][4], plan.persistent_bytes.count());  // the only transient
}

TEST(MemoryPlan, BytesEqualTheWalksReserved) {
    const StepProgram program = testing::tiny_step();
    const StepProgram* programs[] = {&program};
    MemoryWalk walk(make_arena());
    EXPECT_EQ(walk.run(program).reserved, plan_memory(programs).bytes);
}

TEST(MemoryPlan, OfNothingIsEmpty) {
    EXPECT_EQ(plan_memory({}).bytes, Bytes(0));
    const StepProgram empty;
    const StepProgram* programs[] = {&empty};
    EXPECT_EQ(plan_memory(programs).persistent_bytes, Bytes(0));
}

}  // namespace
}  // namespace wirewise
