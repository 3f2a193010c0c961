// The catalogue of GPUs: one row per kind in topologies/gpus.json, each with its source.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/units/dtype.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

struct GpuModel {
    std::string name;                            // "h200-sxm"
    std::string full_name;                       // "NVIDIA H200 SXM5 141GB"
    std::string vendor;                          // "nvidia" or "amd"
    Bytes memory_total;                          // as the driver reports it
    Bytes memory_free;                           // free at start, before any context
    std::map<DType, FlopsPerSecond> dense_peak;  // without sparsity
    BytesPerSecond memory_bandwidth;
    int multiprocessors = 0;
    double compute_capability = 0;  // 9.0; 0 for AMD
    int nvlinks = 0;                // links of the GPU; 0: none
    int nvlink_version = 0;
    BytesPerSecond nvlink_rate;  // usable, per link and direction (NCCL's figure)
    BytesPerSecond nvlink_spec;  // data sheet, per link and direction
    int pcie_generation = 0, pcie_width = 16;
    bool pcie_peer_to_peer = true;  // false: GeForce
    std::string source;
};

// Throws InputError listing near names when there is none.
const GpuModel& gpu_model(std::string_view name);
std::span<const GpuModel> all_gpu_models();

}  // namespace wirewise
