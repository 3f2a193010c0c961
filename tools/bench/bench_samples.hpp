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

}  // namespace wirewise
