#include "model/program/walk.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/program/tiny_program.hpp"

namespace wirewise {
namespace {

Bytes sum(const BytesByRole& roles) { return std::accumulate(roles.begin(), roles.end(), Bytes(0)); }

TEST(Walk, PeakOfTheTinyStepAddsUp) {
    MemoryWalk walk(make_arena());
    const MemoryPeak first = walk.run(testing::tiny_step());
    EXPECT_EQ(first.allocated,
              Bytes(4096 + 4096 + 16384 + 1024));  // the output is gone when the moments arrive
    EXPECT_EQ(first.reserved, first.allocated + Bytes(2048));
    EXPECT_EQ(sum(first.breakdown), first.allocated);
    EXPECT_EQ(first.at, "update, micro-batch 0, layer 0, adamw");
}

TEST(Walk, PersistentBuffersStayForTheNextProgram) {
    MemoryWalk walk(make_arena());
    walk.run(testing::tiny_step());
    const MemoryPeak second = walk.run(testing::tiny_step());
    EXPECT_EQ(second.allocated, Bytes(4096 + 4096 + 16384 + 1024 + 2048));
    EXPECT_EQ(second.at, "forward, micro-batch 0, layer 0, linear");
    EXPECT_EQ(walk.peak().allocated, second.allocated);
    EXPECT_EQ(second.breakdown[index_of(Role::optimizer)], Bytes(16384));
}

TEST(Walk, RefusesProgramsThatDisagreeOnAPersistentBuffer) {
    MemoryWalk walk(make_arena());
    walk.run(testing::tiny_step());
    StepProgram other = testing::tiny_step();
    other.buffers[0].bytes = Bytes(1);
    EXPECT_THROW(walk.run(other), InvariantError);
}

}  // namespace
}  // namespace wirewise
