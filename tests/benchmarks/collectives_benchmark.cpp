// What an answer about wires costs: searching placements, pricing a large cluster.
#include <benchmark/benchmark.h>

#include <numeric>
#include <random>

#include "model/collectives/place.hpp"
#include "model/topology/builder.hpp"
#include "model/topology/built_in.hpp"
#include "model/topology/gpu.hpp"

namespace wirewise {
namespace {

std::vector<int> all_gpus(const Machine& machine) {
    std::vector<int> gpus(static_cast<std::size_t>(machine.gpu_count()));
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

// Every count of GPUs of a box, all subsets: limit 50 ms each.
void place_on(benchmark::State& state, const char* name) {
    const Machine machine = *built_in_machine(name);
    for (auto _ : state) benchmark::DoNotOptimize(place(machine, {}, static_cast<int>(state.range(0))));
}
BENCHMARK_CAPTURE(place_on, bridge_groups, "h200-nvl-8")->DenseRange(2, 8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(place_on, cube_mesh, "dgx-1-v100")->DenseRange(2, 8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(place_on, pcie, "rtx-4090-8")->DenseRange(2, 8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(place_on, sixteen, "dgx-2")->Arg(8)->Unit(benchmark::kMillisecond);

// Sixteen GPUs, NVLinks between them as `join` makes them: hundreds of shapes, limit 1 s.
template <class Join>
void place_on_mesh(benchmark::State& state, Join&& join) {
    MachineBuilder build("mesh", CpuKind::amd_epyc);
    std::vector<NodeId> gpus;
    NodeId numa{};
    for (int i = 0; i < 16; ++i) {
        if (i % 4 == 0) numa = build.numa();
        gpus.push_back(build.gpu(&gpu_model("a100-80gb-sxm")));
        build.pcie(gpus.back(), build.host_bridge(numa), 4);
    }
    join(build, gpus);
    const Machine machine = build.build();
    for (auto _ : state) benchmark::DoNotOptimize(place(machine, {}, static_cast<int>(state.range(0))));
}

void place_on_rings(benchmark::State& state) {
    place_on_mesh(state, [](MachineBuilder& build, const std::vector<NodeId>& gpus) {
        for (std::size_t i = 0; i < 16; ++i)
            for (const std::size_t step : {1U, 3U})
                build.nvlink(gpus[i], gpus[(i + step) % 16], 1 + static_cast<int>(i * step % 3));
    });
}
BENCHMARK(place_on_rings)->Arg(4)->Arg(8)->Arg(12)->Unit(benchmark::kMillisecond)->UseRealTime();

void place_on_random(benchmark::State& state) {
    place_on_mesh(state, [](MachineBuilder& build, const std::vector<NodeId>& gpus) {
        std::mt19937 random(1);
        for (std::size_t a = 0; a < 16; ++a)
            for (std::size_t b = a + 1; b < 16; ++b)
                if (random() % 3 == 0) build.nvlink(gpus[a], gpus[b], 1 + static_cast<int>(random() % 6));
    });
}
BENCHMARK(place_on_random)->Arg(8)->Arg(12)->Arg(14)->Arg(15)->Unit(benchmark::kMillisecond)->UseRealTime();

// HSDP: groups inside the job, so that orders matter.
void place_groups(benchmark::State& state) {
    const Machine machine = *built_in_machine("h100-nvl-8");
    for (auto _ : state)
        benchmark::DoNotOptimize(place(machine, {}, 8, {CollectiveKind::all_reduce, 1_GiB, 2}));
}
BENCHMARK(place_groups)->Unit(benchmark::kMillisecond);

// Search and price over so many servers of eight: limit 10 ms for 16,384 GPUs.
void all_reduce_on_servers(benchmark::State& state) {
    const Machine machine = join(*built_in_machine("hgx-h100-8"), static_cast<int>(state.range(0)),
                                 fabric_named("infiniband-ndr"));
    for (auto _ : state) {
        const CollectivePricer pricer(machine, {}, {all_gpus(machine)});
        benchmark::DoNotOptimize(pricer.price(CollectiveKind::all_reduce, 1_GiB).seconds);
    }
}
BENCHMARK(all_reduce_on_servers)->Arg(2)->Arg(64)->Arg(2048)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace wirewise
