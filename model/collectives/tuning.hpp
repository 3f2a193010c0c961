// NCCL's tuning constants as data: latencies, protocol limits, NVLS figures per GPU generation.
#pragma once

#include <array>
#include <string_view>

#include "model/units/quantity.hpp"

namespace wirewise {

enum class Algorithm : std::uint8_t { ring, tree, nvls, nvls_tree };
enum class Protocol : std::uint8_t { ll, ll128, simple };
// In NCCL's spelling.
inline constexpr std::array<std::string_view, 4> kAlgorithmNames{"Ring", "Tree", "NVLS", "NVLSTree"};
inline constexpr std::array<std::string_view, 3> kProtocolNames{"LL", "LL128", "Simple"};
std::string_view name_of(Algorithm algorithm);
std::string_view name_of(Protocol protocol);

// Microseconds of one hop by algorithm and protocol, over NVLink, PCIe (staging too) and network.
struct HopLatency {
    double nvlink, pcie, network;
};
HopLatency hop_latency(Algorithm algorithm, Protocol protocol);
double base_latency(Algorithm algorithm, Protocol protocol);  // microseconds

// Limits by GPU generation (compute capability): 7 and older, 8, 9, 10 and later.
struct GenerationLimits {
    double ll_bytes_per_second[3];  // bus rate of LL on 1, 2, more nodes, at most
    double ll128_per_channel;       // bytes per second
    double kernel_start;            // seconds before the first byte moves, beside the hops
    // What NVLink transfers take beyond latency and rate until about kRampBytes have moved: seconds. From
    // published runs on 2 to 8 A100 and H100 (both constants: least median error from 1 MiB, 2026-11); two
    // H200 show the same, in both directions at once only. The cause is not known.
    double ramp;
    // In-switch reduction: 0 efficiency where the switch has none.
    double nvls_efficiency = 0, nvls_rack_efficiency = 0;  // on one board; on more GPUs than a board has
    double nvls_small_chunks = 0;                          // share lost at half the full chunk
    int nvls_channels = 0;
    int nvls_least_ranks = 0;  // NCCL's tuner prefers the ring below
};
const GenerationLimits& limits_of(double compute_capability);

inline constexpr int kBoardGpus = 8;

// Trees fall short of the model at middle sizes: NCCL's factor on their bandwidth.
double tree_correction(Protocol protocol, double bytes);

// One block moves at most this much through one channel (512 threads x 16 bytes in flight): measured on two
// H200 with channels capped at 4 to 16 (2026-11): 15 GB/s of all-gather and 17.5 of reduce-scatter bus rate
// per channel.
inline constexpr double kChannelRate = 22e9;
// Out of the GPU's own memory into place: 512 threads x 16 bytes x 8 in flight every 1.2 microseconds.
// Between what one H200 pair shows in all-reduce (60) and in all-gather and reduce-scatter (42, 2026-11).
inline constexpr double kLocalCopyPerChannel = 55e9;

// How the ramp of NVLink fills, see GenerationLimits.
inline constexpr double kRampBytes = 100663296;

// Host memory and sockets are staged chunk by chunk: the next hop starts when the first is whole (NCCL's
// chunk for network and PCIe).
inline constexpr double kStagingChunk = 131072;

// No collective ends sooner than the host can issue it. One process per GPU: 23 us a call (PyTorch 2.11,
// 2026-11). One thread for all GPUs of a node: per GPU, middle of the published 8-GPU boxes.
inline constexpr double kLaunchFloor = 23e-6, kLaunchFloorPerGpu = 4.8e-6, kSocketFloor = 55e-6;
inline constexpr int kLaunchGroup = 8;

}  // namespace wirewise
