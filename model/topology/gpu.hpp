// The catalogue of GPUs: one row per kind in topologies/gpus.json, each with its source.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    bool nvlink_bridge = false;  // a card joined by bridges, never by an NVSwitch
    BytesPerSecond nvlink_rate;  // usable, per link and direction (NCCL's figure)
    BytesPerSecond nvlink_spec;  // data sheet, per link and direction
    int pcie_generation = 0, pcie_width = 16;
    bool pcie_peer_to_peer = true;  // false: GeForce
    std::string source, memory_source;
    // How the GPU names itself elsewhere: PCI device ids ("0x2335") and fragments of marketing names.
    std::vector<std::string> pci_devices, recognise;
};

// Throws InputError listing near names when there is none.
const GpuModel& gpu_model(std::string_view name);
std::span<const GpuModel> all_gpu_models();

// The GPU a product name ("NVIDIA A100-SXM4-80GB") or any text speaks of: the longest fragment found as whole
// words. Null: none.
const GpuModel* gpu_model_in(std::string_view text);
// A name of the catalogue, or a product name. Throws InputError as gpu_model() does when it is neither.
const GpuModel& gpu_named(std::string_view words);
const GpuModel* gpu_model_of_device(std::string_view pci_device);  // "0x2335"; null: none

}  // namespace wirewise
