// How long one simulated step takes: the planner simulates hundreds of candidates a second.
#include <benchmark/benchmark.h>

#include "simulator/simulate.hpp"
#include "tests/simulator/sharded_step.hpp"

namespace {

using namespace wirewise;

CollectivePrice on_nvlink(Axis, CollectiveKind, Bytes bytes) {
    CollectivePrice price{};
    price.seconds = 25_us + bytes / 500_GBps;
    price.transport = "p2p";
    price.channels = 24;
    return price;
}

void simulate_step(benchmark::State& state) {
    const StepShape shape{32, static_cast<int>(state.range(0)), static_cast<int>(2 * state.range(0)), 4096,
                          4096};
    const StepProgram program = ShardedStep(shape).write();
    const CostProfile profile = load_profile(WIREWISE_SOURCE_FOLDER "/calibration/profiles/h200-sxm.json");
    const RuntimeCosts& runtime = profile.runtime("native");
    const CollectiveCost wires = on_nvlink;
    for (auto _ : state) benchmark::DoNotOptimize(simulate(program, profile, wires, runtime));
    state.counters["ops"] = static_cast<double>(program.ops.size());
}
// Kernels a layer, forward; a fused step has about 3,000 ops, an eager one 15,000.
BENCHMARK(simulate_step)->Arg(24)->Arg(150)->Unit(benchmark::kMicrosecond);

}  // namespace
