// How fast programs are built, walked and verified. The program has the shape of a sharded step: per layer a
// gather, kernels that each keep an activation, their backward, a reduce-scatter.
#include <benchmark/benchmark.h>

#include "model/program/builder.hpp"
#include "model/program/verify.hpp"
#include "model/program/walk.hpp"

namespace wirewise {
namespace {

constexpr int kKernelsPerLayer = 16;

// About 2 * kKernelsPerLayer + 12 ops per layer.
StepProgram sharded_step(std::int64_t layers, FreeRule rule) {
    ProgramBuilder b(Phase::steady_step, rule);
    const StreamId compute = b.stream("compute", StreamKind::compute);
    const StreamId wire = b.stream("wire", StreamKind::communication);
    std::vector<BufferId> shards, states;
    for (std::int32_t layer = 0; layer < layers; ++layer) {
        b.at_layer(layer);
        shards.push_back(b.persistent("shard", 64_MiB, DType::bf16, Role::parameter, compute));
        states.push_back(b.persistent("moments", 256_MiB, DType::fp32, Role::optimizer, compute));
    }
    std::vector<BufferId> kept{b.persistent("input", 32_MiB, DType::bf16, Role::activation, compute)};
    const auto gather = [&](std::size_t layer) {
        const BufferId whole = b.transient("gathered", 512_MiB, DType::bf16, Role::communication, wire);
        b.join(wire, compute);
        b.collective(wire, "gather", {CollectiveKind::all_gather, Axis::shard, DType::bf16, 512_MiB},
                     {b.read(shards[layer]), b.write(whole)});
        b.join(compute, wire);
        return whole;
    };
    const auto drop = [&](BufferId buffer) {
        if (rule == FreeRule::at_last_use) b.release(buffer);
    };
    for (std::int32_t layer = 0; layer < layers; ++layer) {
        b.at_layer(layer);
        const BufferId whole = gather(static_cast<std::size_t>(layer));
        for (int k = 0; k < kKernelsPerLayer; ++k) {
            const BufferId y =
                b.transient("activation", Bytes(1 << 20) * (8 + k), DType::bf16, Role::activation, compute);
            b.compute(compute, "gemm", Gemm{.m = 4096, .n = 256 * (k % 7), .k = 4096},
                      {b.read(kept.back()), b.read(whole), b.write(y)});
            kept.push_back(y);
        }
        b.join(wire, compute);
        drop(whole);
    }
    b.in_section(Section::backward);
    for (std::size_t layer = static_cast<std::size_t>(layers); layer-- > 0;) {
        b.at_layer(static_cast<std::int32_t>(layer));
        const BufferId whole = gather(layer);
        const BufferId gradient = b.transient("gradient", 512_MiB, DType::bf16, Role::gradient, compute);
        for (int k = 0; k < kKernelsPerLayer; ++k) {
            b.compute(compute, "gradient",
                      Gemm{.layout = GemmLayout::weight_gradient, .m = 4096, .n = 256 * (k % 7), .k = 4096},
                      {b.read(kept.back()), b.read(whole), b.write(gradient)});
            kept.pop_back();
        }
        const BufferId share = b.transient("share", 64_MiB, DType::bf16, Role::gradient, wire);
        b.join(wire, compute);
        drop(whole);
        b.collective(wire, "reduce",
                     {CollectiveKind::reduce_scatter, Axis::shard, DType::bf16, 512_MiB, true},
                     {b.read(gradient), b.write(share)});
        b.join(compute, wire);
        drop(gradient);
        b.compute(compute, "adamw", OptimizerUpdate{.count = 1 << 25},
                  {b.read(share), b.update(shards[layer]), b.update(states[layer])});
        b.join(wire, compute);
        drop(share);
    }
    return std::move(b).finish();
}

void count_ops(benchmark::State& state, const StepProgram& program) {
    state.counters["ops"] = static_cast<double>(program.ops.size());
    state.counters["ns_per_op"] =
        benchmark::Counter(static_cast<double>(program.ops.size()),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void build(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(sharded_step(state.range(0), FreeRule::after_join));
    count_ops(state, sharded_step(state.range(0), FreeRule::after_join));
}

void walk(benchmark::State& state, FreeRule rule, std::unique_ptr<Allocator> (*allocator)()) {
    const StepProgram program = sharded_step(state.range(0), rule);
    for (auto _ : state) benchmark::DoNotOptimize(MemoryWalk(allocator()).run(program));
    count_ops(state, program);
}

void walk_arena(benchmark::State& state) {
    walk(state, FreeRule::after_join, [] { return make_arena(); });
}
void walk_caching(benchmark::State& state) {
    walk(state, FreeRule::at_last_use, [] { return make_caching_allocator(); });
}

void verify_program(benchmark::State& state) {
    const StepProgram program = sharded_step(state.range(0), FreeRule::after_join);
    if (!verify(program).empty()) return state.SkipWithError("the program has faults");
    for (auto _ : state) benchmark::DoNotOptimize(verify(program));
    count_ops(state, program);
}

BENCHMARK(build)->Arg(32)->Arg(200)->Unit(benchmark::kMicrosecond);
BENCHMARK(walk_arena)->Arg(32)->Arg(200)->Unit(benchmark::kMicrosecond);
BENCHMARK(walk_caching)->Arg(32)->Arg(200)->Unit(benchmark::kMicrosecond);
BENCHMARK(verify_program)->Arg(32)->Arg(200)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace wirewise
