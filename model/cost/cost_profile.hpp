// All physics of one GPU kind under one software stack: how long kernels take, what launching costs, what a running
// collective takes from compute, what a process holds outside its buffers. Every number has an origin. Strategies hold
// none of it. Loaded from calibration/profiles/*.json, or derived from the GPU's data sheet.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/kernel.hpp"
#include "model/topology/gpu.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

// Where a number comes from: shown by `plan`, required in every profile.
struct Origin {
    std::string source;  // "data sheet", "measured", "published: ..."
    std::string date;
    int samples = 0;
    double residual = 0;  // typical relative error of the fit; 0: unknown
};

struct CostProfile {
    std::string name;       // "h200-sxm"
    std::string gpu;        // the GPU it describes
    bool measured = false;  // false: data sheet only
    std::map<std::string, Origin> origins;

    // GEMM: in-step factor x (fixed + flops / rate / wave efficiency). rate per compute dtype.
    std::map<DType, FlopsPerSecond> gemm_rate;
    Seconds gemm_fixed;
    double tensor_power_base = 1, tensor_power_slope = 0;  // see step_time: the power limit's effect on GEMM-heavy steps
    // Attention: rate over log2(flops), piecewise linear, forward and backward, at head_dim 128.
    std::vector<std::pair<double, FlopsPerSecond>> attention_forward, attention_backward;
    double small_head_factor = 1;  // time factor at head_dim <= 64
    // Memory-bound kernels.
    BytesPerSecond vector_rate, reduction_rate, optimizer_rate;
    double broadcast_elements_per_second = 0;
    Seconds kernel_fixed, kernel_minimum, kernel_gap;
    // The host.
    Seconds launch_kernel, launch_collective, launch_hook;
    // Contention while a collective runs.
    double gemm_slowdown = 1, vector_slowdown = 1;  // time factors
    double collective_start_delay = 0;              // x mean remaining time of running kernels
    // Memory outside the allocator, per process.
    Bytes context_bytes;                              // CUDA context, libraries
    std::map<std::string, Bytes> communicator_bytes;  // by transport: "p2p", "shm", "net"
};

// Throws InputError naming file and JSON pointer.
CostProfile load_profile(const std::string& file);
// From data-sheet figures alone, with efficiencies that hold across GPU kinds.
CostProfile profile_from_data_sheet(const GpuModel& gpu);

// Time of one kernel running alone.
Seconds kernel_time(const Kernel& kernel, const CostProfile& profile);

}  // namespace wirewise
