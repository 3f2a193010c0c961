#include "model/topology/smi/other_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wirewise::smi {
namespace {

struct Sign {
    std::string_view words;  // found anywhere in the text
    std::string_view is;
};

// First match wins: the more telling words stand above.
constexpr Sign kSigns[] = {
    {"Weight between two GPUs", "a weight matrix of rocm-smi --showtopo: it has no connection classes"},
    {"ROCm System Management", "output of rocm-smi"},
    {"ROCM-SMI", "output of rocm-smi"},
    {"Link Type between two GPUs", "a link-type matrix of rocm-smi --showtopo"},
    {"XGMI", "a link-type matrix of rocm-smi or amd-smi: built-in machines stand in for AMD boxes"},
    {"ACCESS TABLE", "output of amd-smi topology"},
    {"WEIGHT TABLE", "output of amd-smi topology"},
    {"NCCL INFO", "an NCCL log (NCCL_DEBUG=INFO), not a matrix"},
    {"busbw", "output of nccl-tests: rates, not wiring"},
    {"P2P Connectivity Matrix", "output of p2pBandwidthLatencyTest: rates, not wiring"},
    {"Bandwidth Matrix", "output of p2pBandwidthLatencyTest: rates, not wiring"},
    {"NVIDIA-SMI has failed", "an error message of nvidia-smi: the driver does not answer"},
    {"command not found", "an error message of the shell: nvidia-smi is not installed there"},
    {"NVIDIA-SMI", "the overview of nvidia-smi, not nvidia-smi topo -m"},
    {"Driver Version", "an overview of nvidia-smi, not nvidia-smi topo -m"},
    {"GB/s", "link rates (nvidia-smi nvlink -s or the like), not nvidia-smi topo -m"},
    {"UUID: GPU-", "the list of nvidia-smi -L, not nvidia-smi topo -m"},
    {"available: ", "output of numactl --hardware"},
    {"VGA compatible controller", "output of lspci"},
    {"3D controller", "output of lspci"},
    {"PCI bridge", "output of lspci or lstopo"},
    {"HostBridge", "output of lstopo"},
    {"CA type", "output of ibstat"},
};

bool is_binary(std::string_view text) {
    const std::string_view start = text.substr(0, 4096);
    return std::any_of(start.begin(), start.end(), [](char c) { return c == '\0'; });
}

}  // namespace

bool is_of_amd(std::string_view text) { return text.find("XGMI") != std::string_view::npos; }

std::string what_it_is(std::string_view text, OtherMatrix other) {
    constexpr std::string_view wanted = "give the output of nvidia-smi topo -m";
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fmt::format("this is empty: {}", wanted);
    if (is_binary(text)) return fmt::format("this is a binary file: {}", wanted);
    if (other == OtherMatrix::peer_access)
        return fmt::format(
            "this is a capability matrix (nvidia-smi topo -p2p), it has no connection classes: {}", wanted);
    for (const Sign& sign : kSigns)
        if (text.find(sign.words) != std::string_view::npos)
            return fmt::format("this is {}: {}", sign.is, wanted);
    if (other == OtherMatrix::weights)
        return fmt::format(
            "this is a matrix of numbers (rocm-smi --showtopo or the like), it has no connection classes: {}",
            wanted);
    return fmt::format("no matrix of connection classes stands in this text: {}", wanted);
}

}  // namespace wirewise::smi
