// What holds for every sound program.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "model/program/memory_plan.hpp"
#include "model/program/verify.hpp"
#include "model/program/walk.hpp"
#include "tests/program/random_program.hpp"

namespace wirewise {
namespace {

FreeRule any_rule() { return *rc::gen::element(FreeRule::after_join, FreeRule::at_last_use); }

std::uint32_t first_op(const Liveness& live, std::size_t b) { return live.born_at[b]; }
bool alive_at(const Liveness& live, std::size_t b, std::size_t op) {
    return first_op(live, b) <= op && op <= live.freed_at[b];
}

std::unique_ptr<Allocator> allocator_for(FreeRule rule) {
    return rule == FreeRule::after_join ? make_arena() : make_caching_allocator();
}

RC_GTEST_PROP(Program, SoundOnesHaveNoFault, ()) {
    const StepProgram program = testing::random_program(any_rule());
    for (const Fault& fault : verify(program)) RC_FAIL(fault.text + "\n" + to_text(program));
}

RC_GTEST_PROP(Walk, PeakIsAtLeastTheLargestLiveSet, ()) {
    const StepProgram program = testing::random_program(any_rule());
    std::vector<Bytes> curve;
    MemoryWalk walk(allocator_for(program.free_rule));
    const MemoryPeak peak = walk.run(program, {.allocated_by_op = &curve});
    const Liveness live = liveness(program);
    for (std::size_t op = 0; op < program.ops.size(); ++op) {
        Bytes asked;
        for (std::size_t b = 0; b < program.buffers.size(); ++b)
            if (alive_at(live, b, op)) asked += program.buffers[b].bytes;
        RC_ASSERT(curve[op] >= asked);
        RC_ASSERT(peak.allocated >= curve[op]);
    }
    RC_ASSERT(peak.reserved >= peak.allocated);
    RC_ASSERT(std::accumulate(peak.breakdown.begin(), peak.breakdown.end(), Bytes(0)) == peak.allocated);
    if (!program.ops.empty()) RC_ASSERT(curve[index_of(peak.op)] == peak.allocated);
}

RC_GTEST_PROP(Walk, TwiceIsTheSame, ()) {
    const StepProgram program = testing::random_program(any_rule());
    MemoryWalk a(allocator_for(program.free_rule)), b(allocator_for(program.free_rule));
    std::vector<Bytes> first, second;
    a.run(program, {.allocated_by_op = &first});
    b.run(program, {.allocated_by_op = &second});
    RC_ASSERT(first == second);
    RC_ASSERT(a.reserved() == b.reserved());
}

RC_GTEST_PROP(MemoryPlan, LiveBuffersNeverOverlap, ()) {
    const StepProgram program = testing::random_program();
    const StepProgram* programs[] = {&program};
    const MemoryPlan plan = plan_memory(programs);
    const Liveness live = liveness(program);
    const auto& offsets = plan.offsets[0];
    for (std::size_t a = 0; a < offsets.size(); ++a) {
        RC_ASSERT((offsets[a] >= 0) ==
                  (live.born_at[a] != Liveness::kNever && program.buffers[a].bytes > Bytes(0)));
        if (offsets[a] < 0) continue;
        const std::int64_t end = offsets[a] + program.buffers[a].bytes.count();
        RC_ASSERT(end <= plan.bytes.count());
        for (std::size_t b = 0; b < offsets.size(); ++b) {
            if (a == b || offsets[b] < 0 || !alive_at(live, a, live.born_at[b])) continue;
            RC_ASSERT(end <= offsets[b] || offsets[b] + program.buffers[b].bytes.count() <= offsets[a]);
        }
    }
}

RC_GTEST_PROP(Hash, IsStableAndSeesEveryChange, ()) {
    StepProgram program = testing::random_program();
    const std::uint64_t before = hash_of(program);
    RC_ASSERT(hash_of(StepProgram(program)) == before);
    RC_PRE(!program.buffers.empty());
    program.buffers.back().bytes += Bytes(1);
    RC_ASSERT(hash_of(program) != before);
}

}  // namespace
}  // namespace wirewise
