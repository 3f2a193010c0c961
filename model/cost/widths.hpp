// How far predictions may be off: half widths of 90 % intervals, relative to the prediction, each a quantile
// of residuals that its origin names. Data: a profile's /intervals, else calibration/intervals.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/cost/origin.hpp"
#include "model/program/kernel.hpp"

namespace wirewise {

struct Width {
    double half = 0;
    Origin origin;
};

// Of step time. `extrapolated`: the plan lies outside of what was measured: the ranges, or the runtime
// itself.
struct StepWidths {
    Width gpu_bound, host_bound, extrapolated;
    struct Range {
        double least = 0, most = 1e18;
        bool holds(double value) const { return value >= least && value <= most; }
        bool said() const { return most < 1e18; }
    };
    Range tokens, sequence;  // of a micro-batch
};

// Of a runtime's memory: allocated and reserved by its allocator, and used on the device.
struct MemoryWidths {
    Width allocated, reserved, device_used;
    // Where a race decides between several peaks: how often it went as expected.
    Width expected_outcome{1, {}};
};

// Step and memory by runtime, kernels by kind (width_kind); "other" is any that has none of its own.
struct Widths {
    std::map<std::string, StepWidths> step;
    std::map<std::string, MemoryWidths> memory;
    std::map<std::string, Width> kernel;  // run alone, in a loop

    const MemoryWidths& memory_of(std::string_view runtime) const;
    const Width& kernel_of(std::string_view kind) const;
    // Null: steps of this runtime were not measured.
    const StepWidths* step_of(std::string_view runtime) const;
    // For a runtime that was not measured: the widest that is known to happen outside of what was measured.
    const Width& unmeasured_step() const;
};

// "gemm", "attention", "pointwise", "optimizer"; a transfer by a copy engine is "transfer".
std::string_view width_kind(const Kernel& kernel);

}  // namespace wirewise
