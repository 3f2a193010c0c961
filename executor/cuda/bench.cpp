#include "executor/cuda/bench.hpp"

#include <chrono>
#include <set>

#include "executor/cuda/device.hpp"
#include "executor/cuda/kernels/elementwise.hpp"
#include "executor/cuda/on_device.hpp"
#include "executor/cuda/rank.hpp"
#include "executor/cuda/stream_clock.hpp"
#include "executor/training/supported.hpp"
#include "model/strategy/lower.hpp"

namespace wirewise::cuda {

namespace {

constexpr std::size_t kFlushed = 256 << 20;  // several times the L2 cache of any GPU so far

std::vector<TransferTiming> measure_transfers() {
    constexpr std::size_t kSizes[] = {1 << 20, 64 << 20, 512 << 20};
    const std::size_t most = kSizes[2];
    const DeviceMemory a(most), b(most);
    const PinnedMemory host(most);
    const Stream stream = make_stream(false);
    StreamClock clock(stream.get());
    std::vector<TransferTiming> timings;
    const auto measure = [&](MemorySpace from, MemorySpace to, void* target, const void* source) {
        for (const std::size_t bytes : kSizes) {
            const auto copy = [&] {
                check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream.get()),
                      "cudaMemcpyAsync");
            };
            timings.push_back({from, to, Bytes(static_cast<std::int64_t>(bytes)), clock.time(copy, [] {})});
        }
    };
    measure(MemorySpace::device, MemorySpace::device, b.data(), a.data());
    measure(MemorySpace::host, MemorySpace::device, a.data(), host.data());
    measure(MemorySpace::device, MemorySpace::host, host.data(), a.data());
    return timings;
}

// The host's time per launch while the device keeps up.
Timing measure_launch() {
    constexpr int kLaunches = 200;
    const DeviceMemory value(sizeof(float));
    const Stream stream = make_stream(false);
    std::vector<double> seconds;
    for (int i = -kWarmUps; i < kRepeats; ++i) {
        check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
        const auto begin = std::chrono::steady_clock::now();
        for (int launch = 0; launch < kLaunches; ++launch)
            fill_constant({value.data(), DType::fp32}, 1, 1, stream.get());
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        if (i >= 0) seconds.push_back(elapsed.count() / kLaunches);
    }
    return timing_of(std::move(seconds));
}

// The first op of each distinct kernel.
std::vector<std::size_t> first_ops(const StepProgram& program) {
    std::vector<std::size_t> firsts;
    std::set<KernelId> seen;
    for (std::size_t i = 0; i < program.ops.size(); ++i)
        if (const auto* compute = std::get_if<Compute>(&program.ops[i].payload))
            if (seen.insert(compute->kernel).second) firsts.push_back(i);
    return firsts;
}

}  // namespace

DeviceCosts measure_device(int device) {
    const DeviceWatch watch(device);
    const Bytes before = watch.used();
    return on_device(0, device, [&] {
        DeviceCosts costs;
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        costs.context = watch.used() - before;
        {
            const Libraries libraries;
            costs.libraries = watch.used() - before - costs.context;
        }
        costs.transfers = measure_transfers();
        costs.launch = measure_launch();
        return costs;
    });
}

std::vector<KernelTiming> measure_kernels(const Transformer& model, const ParallelPlan& plan, int device) {
    ensure_computed(model, plan);
    const StepProgram program = lower(model, plan, Phase::steady_step);
    const StepProgram load = lower(model, plan, Phase::load);
    const StepProgram* const programs[] = {&load, &program};
    const MemoryPlan memory = plan_memory(programs);
    return on_device(0, device, [&] {
        const Hyperparameters numbers{.learning_rate = 1e-5, .max_gradient_norm = 1};
        Rank rank(program, model, plan, numbers, memory, make_lone_groups());
        rank.tune();
        std::vector<std::int32_t> tokens(
            static_cast<std::size_t>(plan.tokens_per_micro_batch() * plan.gradient_accumulation));
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = static_cast<std::int32_t>(i * 7919 % static_cast<std::size_t>(model.vocabulary));
        rank.feed(tokens);
        rank.fill_parameters();
        rank.run(1, false);
        const DeviceMemory flushed(kFlushed);
        std::vector<KernelTiming> timings;
        for (const std::size_t index : first_ops(program)) {
            const Op& op = program.ops[index];
            const cudaStream_t stream = rank.stream(index_of(op.stream));
            StreamClock clock(stream);
            const Timing time = clock.time(
                [&] { rank.ops()[index].work(stream); },
                [&] { check(cudaMemsetAsync(flushed.data(), 0, kFlushed, stream), "cudaMemsetAsync"); });
            timings.push_back({program.at(std::get<Compute>(op.payload).kernel), time});
        }
        return timings;
    });
}

}  // namespace wirewise::cuda
