// What each kind of link carries, one way: the figure NCCL plans with, and what the wire gives.
#pragma once

#include "model/topology/machine.hpp"

namespace wirewise {

struct LinkRates {
    BytesPerSecond plan, wire;
};

// A bundle of `count` links of that GPU; null: NCCL's fall-back of 20 GB/s per link.
LinkRates nvlink_rates(const GpuModel* gpu, int count);
LinkRates pcie_rates(int generation, int width);
int newest_pcie_generation(const MachineGraph& graph);  // 0: no PCIe
LinkRates socket_rates(CpuKind cpu, int pcie_generation);
LinkRates c2c_rates(const GpuModel* gpu);
// Memory of one NUMA node, reads and writes together, for servers of that PCIe generation.
BytesPerSecond memory_rate(int pcie_generation);

// Host staging moves less than a peer's direct writes over the same PCIe link.
inline constexpr double kStagedShareOfPcie = 24.0 / 26.5;
// Peer traffic through an Intel root complex counts 6/5 (NCCL topo.h, INTEL_P2P_OVERHEAD).
inline constexpr double kIntelPeerOverhead = 1.2;

}  // namespace wirewise
