// Sound programs give no fault; each planted fault is found, alone, and where it was planted.
#include "model/program/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/program/byte_ranges.hpp"
#include "tests/program/tiny_program.hpp"

namespace wirewise {
namespace {

std::string text_of(const std::vector<Fault>& faults) {
    std::string text;
    for (const Fault& fault : faults) text += std::string(name_of(fault.kind)) + ": " + fault.text + "\n";
    return text;
}

// A fully sharded step of `layers` layers on two streams: gathers are prefetched on "wire" (their memory's
// home), the reduced gradients land on "wire" too.
struct ShardedStep {
    int layers = 3;
    FreeRule rule = FreeRule::after_join;
    bool gather_waits_for_compute = true;
    bool compute_waits_for_gather = true;
    bool compute_waits_for_reduce = true;

    StepProgram build() const {
        ProgramBuilder b(Phase::steady_step, rule);
        const StreamId compute = b.stream("compute", StreamKind::compute);
        const StreamId wire = b.stream("wire", StreamKind::communication);
        b.set_axis_size(Axis::shard, 4);
        std::vector<BufferId> shards, states, gathered;
        for (int layer = 0; layer < layers; ++layer) {
            b.at_layer(layer);
            shards.push_back(b.persistent("shard", Bytes(1024), DType::bf16, Role::parameter, compute));
            states.push_back(b.persistent("moments", Bytes(4096), DType::fp32, Role::optimizer, compute));
        }
        BufferId x = b.persistent("input", Bytes(2048), DType::bf16, Role::activation, compute);
        std::vector<BufferId> inputs;
        for (int layer = 0; layer < layers; ++layer) {
            b.at_layer(layer);
            const BufferId whole =
                b.transient("gathered", Bytes(4096), DType::bf16, Role::communication, wire);
            if (gather_waits_for_compute) b.join(wire, compute);
            b.collective(wire, "gather", {CollectiveKind::all_gather, Axis::shard, DType::bf16, Bytes(4096)},
                         {b.read(shards[layer]), b.write(whole)});
            if (compute_waits_for_gather) b.join(compute, wire);
            const BufferId y = b.transient("output", Bytes(2048), DType::bf16, Role::activation, compute);
            b.compute(compute, "linear", Gemm{}, {b.read(x), b.read(whole), b.write(y)});
            inputs.push_back(x);
            x = y;
            gathered.push_back(whole);
        }
        b.in_section(Section::backward);
        for (int layer = layers; layer-- > 0;) {
            b.at_layer(layer);
            const BufferId full = b.transient("gradient", Bytes(4096), DType::bf16, Role::gradient, compute);
            b.compute(compute, "weight gradient", Gemm{GemmLayout::weight_gradient},
                      {b.read(x), b.read(inputs[layer]), b.write(full)});
            const BufferId reduced = b.transient("reduced", Bytes(1024), DType::bf16, Role::gradient, wire);
            b.join(wire, compute);
            b.collective(wire, "reduce",
                         {CollectiveKind::reduce_scatter, Axis::shard, DType::bf16, Bytes(4096), true},
                         {b.read(full), b.write(reduced)});
            if (compute_waits_for_reduce) b.join(compute, wire);
            if (rule == FreeRule::at_last_use) b.release(full);
            b.compute(compute, "adamw", OptimizerUpdate{.count = 512},
                      {b.read(reduced), b.update(shards[layer]), b.update(states[layer])});
            if (rule == FreeRule::at_last_use) {
                b.join(wire, compute);
                b.release(reduced);
                b.release(gathered[layer]);
            }
        }
        return std::move(b).finish();
    }
};

TEST(Verify, SoundProgramsGiveNoFault) {
    EXPECT_EQ(text_of(verify(testing::tiny_step())), "");
    EXPECT_EQ(text_of(verify(ShardedStep{}.build())), "");
    EXPECT_EQ(text_of(verify(ShardedStep{.rule = FreeRule::at_last_use}.build())), "");
    EXPECT_EQ(text_of(verify(StepProgram{})), "");
}

// Ops of the tiny step: 0 linear, 1 weight gradient, 2 record e0, 3 wait e0, 4 reduce, 5 record e1, 6 wait
// e1, 7 adamw.
struct Planted {
    const char* name;
    std::function<void(StepProgram&)> plant;
    FaultKind kind;
    std::uint32_t op;
    const char* says;
};

void drop(StepProgram& program, std::size_t op) { program.ops[op].payload = HostWork{}; }

Operand& operand(StepProgram& program, std::size_t op, std::size_t which) {
    return program.operands[program.ops[op].first_operand + which];
}

// Adds an op whose operands name `buffers`.
void append(StepProgram& program, Payload payload, std::vector<Operand> operands, std::uint8_t stream = 0) {
    Op op{payload, {"planted", 0}, StreamId{stream}, Section::update, 0, 0, 0};
    op.first_operand = static_cast<std::uint32_t>(program.operands.size());
    op.operand_count = static_cast<std::uint32_t>(operands.size());
    program.operands.insert(program.operands.end(), operands.begin(), operands.end());
    program.ops.push_back(op);
}

const Planted kPlanted[] = {
    {"missing wait before a collective", [](StepProgram& p) { drop(p, 3); }, FaultKind::unordered_conflict, 4,
     "without waiting for op 1 on stream compute"},
    {"missing wait before the update", [](StepProgram& p) { drop(p, 6); }, FaultKind::unordered_conflict, 7,
     "reads b1 \"gradient\" on stream compute without waiting for op 4 on stream wire"},
    {"wait before record", [](StepProgram& p) { std::swap(p.ops[2], p.ops[3]); },
     FaultKind::wait_before_record, 2, "event e0"},
    {"double update", [](StepProgram& p) { p.ops.push_back(p.ops[7]); }, FaultKind::double_update, 8,
     "weight"},
    {"missing update", [](StepProgram& p) { operand(p, 7, 1).access = Access::read; },
     FaultKind::missing_update, 8, "weight"},
    {"update of a part only", [](StepProgram& p) { operand(p, 7, 1).bytes = Bytes(4094); },
     FaultKind::missing_update, 8, "weight"},
    {"read before write", [](StepProgram& p) { operand(p, 0, 2).bytes = Bytes(1024); },
     FaultKind::read_before_write, 1, "output"},
    {"operand behind the end", [](StepProgram& p) { operand(p, 0, 0).offset = Bytes(2); },
     FaultKind::operand_out_of_range, 0, "1024 bytes at 2"},
    {"operand of huge size",
     [](StepProgram& p) { operand(p, 0, 0).bytes = Bytes(std::numeric_limits<std::int64_t>::max()); },
     FaultKind::operand_out_of_range, 0, "input"},
    {"operand without equal shares",
     [](StepProgram& p) {
         p.axis_sizes[static_cast<std::size_t>(Axis::shard)] = 3;
         operand(p, 0, 0).own_share = true;
     },
     FaultKind::operand_out_of_range, 0, "no 3 equal shares"},
    {"unknown buffer", [](StepProgram& p) { operand(p, 4, 0).buffer = BufferId{77}; }, FaultKind::unknown_id,
     4, "b77"},
    {"unknown stream", [](StepProgram& p) { p.ops[1].stream = StreamId{9}; }, FaultKind::unknown_id, 1,
     "stream 9"},
    {"unknown event", [](StepProgram& p) { p.ops[3].payload = Wait{EventId{5}}; }, FaultKind::unknown_id, 3,
     "e5"},
    {"unknown kernel", [](StepProgram& p) { p.ops[1].payload = Compute{KernelId{5}}; }, FaultKind::unknown_id,
     1, "kernel 5"},
    {"unknown home", [](StepProgram& p) { p.buffers[2].home = StreamId{3}; }, FaultKind::unknown_id, 8,
     "buffer b2"},
    {"operands that do not exist", [](StepProgram& p) { p.ops[7].operand_count = 90; }, FaultKind::unknown_id,
     7, "operands"},
    {"use after release",
     [](StepProgram& p) {
         append(p, Release{}, {{BufferId{3}, Access::read}});
         append(p, Compute{KernelId{0}}, {{BufferId{3}, Access::read, false, Bytes(0), Bytes(1024)}});
     },
     FaultKind::used_after_release, 9, "op 8 released"},
    {"released twice",
     [](StepProgram& p) {
         append(p, Release{}, {{BufferId{3}, Access::read}});
         append(p, Release{}, {{BufferId{3}, Access::read}});
     },
     FaultKind::used_after_release, 9, "op 8 released"},
};

class VerifyPlanted : public ::testing::TestWithParam<Planted> {};

TEST_P(VerifyPlanted, IsFoundAndNamed) {
    StepProgram program = testing::tiny_step();
    GetParam().plant(program);
    const std::vector<Fault> faults = verify(program);
    ASSERT_FALSE(faults.empty()) << GetParam().name;
    const auto found =
        std::find_if(faults.begin(), faults.end(), [](const Fault& f) { return f.kind == GetParam().kind; });
    ASSERT_NE(found, faults.end()) << text_of(faults);
    EXPECT_EQ(index_of(found->op), GetParam().op) << text_of(faults);
    EXPECT_NE(found->text.find(GetParam().says), std::string::npos) << text_of(faults);
}

INSTANTIATE_TEST_SUITE_P(Faults, VerifyPlanted, ::testing::ValuesIn(kPlanted), [](const auto& test) {
    std::string name = test.param.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
});

bool all_are(const std::vector<Fault>& faults, FaultKind kind) {
    return !faults.empty() &&
           std::all_of(faults.begin(), faults.end(), [&](const Fault& f) { return f.kind == kind; });
}

TEST(Verify, FindsAGatherThatComputeDoesNotWaitFor) {
    const auto faults = verify(ShardedStep{.compute_waits_for_gather = false}.build());
    EXPECT_TRUE(all_are(faults, FaultKind::unordered_conflict)) << text_of(faults);
    EXPECT_EQ(faults.size(), 3u);
}

// Memory dropped before its last user on another stream is done.
TEST(Verify, FindsMemoryFreedEarly) {
    StepProgram program = ShardedStep{.rule = FreeRule::at_last_use}.build();
    for (std::size_t i = program.ops.size(); i-- > 0;) {
        if (!std::holds_alternative<Release>(program.ops[i].payload)) continue;
        ASSERT_TRUE(
            std::holds_alternative<Wait>(program.ops[i - 2].payload));  // the join before both releases
        drop(program, i - 2);
        break;
    }
    const auto faults = verify(program);
    ASSERT_TRUE(all_are(faults, FaultKind::freed_early)) << text_of(faults);
    EXPECT_NE(faults[0].text.find("while op"), std::string::npos);
}

// With no join back, the arena never gives the gathers' memory to the next gather: sound, but not free.
TEST(Verify, MemoryThatIsNeverJoinedIsNeverReused) {
    EXPECT_EQ(text_of(verify(ShardedStep{.gather_waits_for_compute = false}.build())), "");
}

// A buffer of compute's pool that is first touched on another stream, which has not waited for compute.
TEST(Verify, FindsReuseAcrossStreams) {
    for (const bool joined : {true, false}) {
        ProgramBuilder b(Phase::evaluation);
        const StreamId compute = b.stream("compute", StreamKind::compute);
        const StreamId copy = b.stream("copy", StreamKind::copy);
        const BufferId first = b.transient("first", Bytes(1024), DType::bf16, Role::activation, compute);
        b.compute(compute, "fill", Pointwise{}, {b.write(first)});
        if (joined) b.join(copy, compute);
        const BufferId second = b.transient("second", Bytes(1024), DType::bf16, Role::activation, compute);
        b.copy(copy, "load", {MemorySpace::host, MemorySpace::device, Bytes(1024)}, {b.write(second)});
        const auto faults = verify(std::move(b).finish());
        if (joined)
            EXPECT_EQ(text_of(faults), "");
        else
            EXPECT_TRUE(all_are(faults, FaultKind::freed_early)) << text_of(faults);
    }
}

TEST(Verify, FindsAWriteThatOvertakesAReadElsewhere) {
    for (const bool joined : {true, false}) {
        ProgramBuilder b(Phase::evaluation);
        const StreamId compute = b.stream("compute", StreamKind::compute),
                       copy = b.stream("copy", StreamKind::copy);
        const BufferId x = b.persistent("x", Bytes(1024), DType::bf16, Role::activation, compute);
        b.copy(copy, "save", {MemorySpace::device, MemorySpace::host, Bytes(1024)},
               {b.read(x, Bytes(512), Bytes(512))});
        b.compute(compute, "other half", Pointwise{}, {b.write(x, Bytes(0), Bytes(512))});
        if (joined) b.join(compute, copy);
        b.compute(compute, "overwrite", Pointwise{}, {b.write(x)});
        const auto faults = verify(std::move(b).finish());
        if (joined) {
            EXPECT_EQ(text_of(faults), "");
        } else {
            ASSERT_TRUE(all_are(faults, FaultKind::unordered_conflict)) << text_of(faults);
            EXPECT_NE(faults[0].text.find("overwrite) writes b0"), std::string::npos) << text_of(faults);
        }
    }
}

TEST(ByteSet, TellsOverlapsAndCovers) {
    ByteSet set;
    EXPECT_FALSE(set.add(0, 10));
    EXPECT_FALSE(set.add(20, 30));
    EXPECT_FALSE(set.add(10, 20));  // touches both
    EXPECT_TRUE(set.covers(0, 30));
    EXPECT_FALSE(set.covers(0, 31));
    EXPECT_TRUE(set.add(29, 40));
    EXPECT_FALSE(set.add(50, 50));
    EXPECT_TRUE(set.covers(7, 7));
}

TEST(Occupancy, HandsOutWhoLayThereAndKeepsTheRest) {
    Occupancy left;
    left.leave(0, 0, 100, 1);
    left.leave(0, 100, 200, 2);
    left.leave(1, 0, 200, 3);
    const auto met = [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint32_t> buffers;
        left.take(0, begin, end, [&](std::uint32_t buffer) { buffers.push_back(buffer); });
        return buffers;
    };
    EXPECT_EQ(met(20, 40), (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(met(20, 40), (std::vector<std::uint32_t>{}));
    EXPECT_EQ(met(0, 120), (std::vector<std::uint32_t>{1, 1, 2}));
    EXPECT_EQ(met(0, 300), (std::vector<std::uint32_t>{2}));
}

// Collectives of one axis run in issue order on any streams; those of two axes do not.
TEST(Verify, OneCommunicatorOrdersItsCollectives) {
    for (const Axis second : {Axis::shard, Axis::replicate}) {
        ProgramBuilder b(Phase::evaluation);
        const StreamId one = b.stream("one", StreamKind::communication),
                       two = b.stream("two", StreamKind::communication);
        const BufferId x = b.persistent("x", Bytes(1024), DType::bf16, Role::gradient, one);
        b.collective(one, "within", {CollectiveKind::all_reduce, Axis::shard, DType::bf16, Bytes(1024)},
                     {b.update(x)});
        b.collective(two, "across", {CollectiveKind::all_reduce, second, DType::bf16, Bytes(1024)},
                     {b.update(x)});
        const auto faults = verify(std::move(b).finish());
        if (second == Axis::shard)
            EXPECT_EQ(text_of(faults), "");
        else
            EXPECT_TRUE(all_are(faults, FaultKind::unordered_conflict)) << text_of(faults);
    }
}

TEST(Verify, HostSynchronisationOrdersStreams) {
    StepProgram program = testing::tiny_step();
    program.ops[6].payload = HostWork{HostWorkKind::synchronize, 1};
    program.ops[6].stream = StreamId{1};
    EXPECT_EQ(text_of(verify(program)), "");
}

TEST(VerifyGroup, FindsCollectivesThatDiffer) {
    const StepProgram same = testing::tiny_step();
    StepProgram other = testing::tiny_step();
    std::vector<const StepProgram*> ranks{&same, &same, &other};
    EXPECT_EQ(text_of(verify_group(ranks)), "");
    std::get<Collective>(other.ops[4].payload).bytes = Bytes(2048);
    const auto faults = verify_group(ranks);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].kind, FaultKind::collective_mismatch);
    EXPECT_EQ(index_of(faults[0].op), 4u);
    EXPECT_NE(faults[0].text.find("rank 2 op 4"), std::string::npos) << faults[0].text;
}

TEST(VerifyGroup, FindsAnotherOrderAndAMissingCollective) {
    const StepProgram program = ShardedStep{}.build();
    StepProgram swapped = program, shorter = program;
    std::vector<std::size_t> calls;
    for (std::size_t i = 0; i < program.ops.size(); ++i)
        if (std::holds_alternative<Collective>(program.ops[i].payload)) calls.push_back(i);
    std::swap(swapped.ops[calls[2]].payload, swapped.ops[calls[3]].payload);  // last gather, first reduce
    drop(shorter, calls.back());
    for (const StepProgram* bad : {&swapped, &shorter}) {
        const std::vector<const StepProgram*> ranks{&program, bad};
        const auto faults = verify_group(ranks);
        ASSERT_EQ(faults.size(), 1u) << text_of(faults);
        EXPECT_EQ(faults[0].kind, FaultKind::collective_mismatch);
    }
}

TEST(VerifyGroup, MatchesSendsWithReceives) {
    const auto rank = [](std::int64_t sent, std::int64_t received) {
        ProgramBuilder b(Phase::evaluation);
        const StreamId wire = b.stream("wire", StreamKind::communication);
        const BufferId out = b.persistent("out", Bytes(64), DType::bf16, Role::activation, wire);
        const BufferId in = b.transient("in", Bytes(64), DType::bf16, Role::activation, wire);
        b.send(wire, "send", {Axis::world, 1, Bytes(sent)}, b.read(out));
        if (received > 0) b.receive(wire, "receive", {Axis::world, -1, Bytes(received)}, b.write(in));
        return std::move(b).finish();
    };
    const StepProgram good = rank(64, 64), bad = rank(64, 32), deaf = rank(64, 0);
    EXPECT_EQ(text_of(verify_group(std::vector{&good, &good, &good})), "");
    EXPECT_EQ(verify_group(std::vector{&good, &bad, &good}).size(), 1u);
    EXPECT_EQ(verify_group(std::vector{&good, &good, &deaf}).size(), 1u);
}

}  // namespace
}  // namespace wirewise
