// Times the kernels and collectives of a plan on this machine, each on its own, with all ranks at work:
// samples from which the cost profile "host" is fitted.
#pragma once

#include <vector>

#include "executor/training/hyperparameters.hpp"
#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise {

struct KernelSample {
    Kernel kernel;
    int calls = 0;  // in a step
    Seconds seconds;
};
struct CollectiveSample {
    Axis axis{};
    CollectiveKind kind{};
    Bytes bytes;
    Seconds seconds;
};
struct HostSamples {
    std::vector<KernelSample> kernels;
    std::vector<CollectiveSample> collectives;
    BytesPerSecond copy_rate;
};

// Takes about a second for a small model; large kernels run three times.
HostSamples bench_host(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers);

}  // namespace wirewise
