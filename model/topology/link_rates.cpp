// Plan rates are NCCL's own constants (v2.30.7, src/graph/topo.h and topo.cc, read 2026-11). Wire rates are
// link arithmetic: signalling rate less packet headers; each row says how.
#include "model/topology/link_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace wirewise {
namespace {

// Gigabytes per second of one NVLink, one way, by NVLink version (1: P100 ... 5: B200).
// Wire: version 2 moves 256-byte packets of 16 data and 2 header flits: 25 x 16/18 = 22.2. Version 3 (A100):
// NCCL reads over NVLink on compute capability 8.0, so requests of the other direction eat into it: 25 x
// 16/20 = 20. GA10x bridges signal at 14.06: x 16/18 = 12.5. From version 4 on NCCL's own figure is what runs
// reach.
struct NvlinkRow {
    double plan, wire;
};
constexpr std::array<NvlinkRow, 6> kNvlink{
    {{20, 20}, {18, 18}, {20, 22.2}, {20, 20}, {20.6, 20.6}, {40.1, 40.1}}};
constexpr NvlinkRow kNvlinkGa10x{12, 12.5};
constexpr double kXgmi = 48;  // RCCL topo.h, gfx942

bool is_ga10x(const GpuModel& gpu) { return gpu.compute_capability > 8.05 && gpu.compute_capability < 8.95; }

NvlinkRow nvlink_row(const GpuModel* gpu) {
    if (gpu == nullptr) return kNvlink[0];
    if (gpu->vendor == "amd") return {kXgmi, kXgmi};
    if (is_ga10x(*gpu)) return kNvlinkGa10x;
    const int version = gpu->nvlink_version;
    if (version >= 1 && version < static_cast<int>(kNvlink.size()))
        return kNvlink[static_cast<std::size_t>(version)];
    // A generation after this table: the catalogue's usable figure serves for both.
    const double usable = gpu->nvlink_rate.value() > 0 ? gpu->nvlink_rate.value() / 1e9 : kNvlink[0].plan;
    return {usable, usable};
}

LinkRates gigabytes(double plan, double wire) {
    return {BytesPerSecond(plan * 1e9), BytesPerSecond(wire * 1e9)};
}

}  // namespace

LinkRates nvlink_rates(const GpuModel* gpu, int count) {
    const NvlinkRow row = nvlink_row(gpu);
    return gigabytes(count * row.plan, count * row.wire);
}

// NCCL: width x entry / 80, entry 15 at generation 1 and doubling. Wire: a peer's writes carry 0.84 of the
// raw lane rate (TLP header and DLLP share, 128b/130b coding): 13.2, 26.5, 53 GB/s at x16 of generations 3,
// 4, 5.
LinkRates pcie_rates(int generation, int width) {
    const double lanes = width > 0 ? width : 16;  // NCCL reads a width of 0 as 16
    const double entry = 15.0 * std::exp2(std::clamp(generation, 1, 7) - 1);
    const double plan = lanes * entry / 80;
    return gigabytes(plan, plan * 26.5 / 24);
}

// Plan: NCCL's constants between two NUMA nodes. They lie below real UPI/xGMI rates and are the softest
// figures here: times over them carry a range. Wire: the same, but for EPYC of the PCIe gen5 era (xGMI of 32
// GT/s), where one published box of eight RTX 5090 runs at 28 GB/s of all-reduce (NVIDIA/nccl issue 1639).
LinkRates socket_rates(CpuKind cpu, int pcie_generation) {
    const double rate = [&] {
        switch (cpu) {
            case CpuKind::intel_broadwell:
                return 6.0;
            case CpuKind::intel_skylake:
                return 10.0;
            case CpuKind::intel_sapphire_rapids:
                return 22.0;
            case CpuKind::intel_emerald_rapids:
                return 40.0;
            case CpuKind::amd_epyc:
                return 16.0;
            case CpuKind::power9:
                return 32.0;
            case CpuKind::arm:
                return 6.0;
            case CpuKind::zhaoxin:
                return 6.0;
            case CpuKind::yongfeng:
                return 9.0;
            case CpuKind::unknown:
                return 16.0;  // the geometric middle of these rows
        }
        return 16.0;
    }();
    const bool late_epyc = cpu == CpuKind::amd_epyc && pcie_generation >= 5;
    return gigabytes(rate, late_epyc ? 30 : rate);
}

// NVLink-C2C of a Grace superchip: 450 GB/s one way (NVIDIA data sheet); NCCL reads bandwidth x count of the
// XML, 345 on the one public dump, which is 0.77 of it.
LinkRates c2c_rates(const GpuModel*) { return gigabytes(345, 345); }

// 0.8 of 6 to 8 channels: DDR4-2666 x 6, DDR4-3200 x 8, DDR5-4800 x 8.
BytesPerSecond memory_rate(int pcie_generation) {
    if (pcie_generation <= 3) return BytesPerSecond(100e9);
    return BytesPerSecond(pcie_generation == 4 ? 160e9 : 245e9);
}

int newest_pcie_generation(const MachineGraph& graph) {
    int generation = 0;
    for (auto [edge, end] = boost::edges(graph); edge != end; ++edge)
        generation = std::max(generation, graph[*edge].pcie_generation);
    return generation;
}

}  // namespace wirewise
