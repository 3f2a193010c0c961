// What `bench` measured, as rows of a measured-case file: calibrate fits profiles to them.
#pragma once

#include <string>
#include <vector>

#include "executor/training/device_module.hpp"
#include "tools/render/report.hpp"

namespace wirewise {

// What every row says about where it was measured.
struct BenchOrigin {
    std::string machine, date, source;
};

// Nothing for a kernel whose dtypes a row cannot say.
std::optional<Json> kernel_row(const KernelTiming& timing, const BenchOrigin& origin);
Json transfer_row(const TransferTiming& timing, const BenchOrigin& origin);
Json launch_row(const Timing& timing, const BenchOrigin& origin);
Json memory_row(const DeviceCosts& costs, const BenchOrigin& origin);

// The wires between these GPUs, by name and by what CollectiveSamples look up.
struct WireOrigin {
    std::string label, gpu, transport, path;
    bool in_switch = false;
    std::vector<int> gpus;
    Json nccl_env;  // the variables that decide, as they were set
};
Json collective_row(const CollectiveTiming& timing, const WireOrigin& wire, const BenchOrigin& origin);
// Slowdowns: 0.12 is 1.12 times as long as alone. Nothing where the two never ran together for long enough.
std::optional<Json> contention_row(const ContentionTiming& timing, const WireOrigin& wire,
                                   const BenchOrigin& origin);
Json communicator_row(Bytes device_memory, const WireOrigin& wire, const BenchOrigin& origin);

}  // namespace wirewise
