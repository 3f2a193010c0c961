// Small machines for tests, built by hand so that every rate in them is in sight.
#pragma once

#include <vector>

#include "model/topology/builder.hpp"

namespace wirewise::test {

// GPU kinds as far as collectives care.
const GpuModel& v100();
const GpuModel& a100();
const GpuModel& h200();
const GpuModel& b200();
const GpuModel& geforce();  // PCIe gen4, no peers

// `count` GPUs on one NVSwitch, four to a NUMA node, each with its own PCIe port and NIC.
Machine switch_box(const GpuModel& gpu, int count, BytesPerSecond nic = {});

// Islands of `size` GPUs, every pair of an island joined by `links` NVLinks; one island per NUMA node.
Machine bridge_groups(const GpuModel& gpu, int islands, int size, int links, CpuKind cpu);

// GPUs with PCIe only: `per_switch` below each PCIe switch, `switches` of them on each of `numas` NUMA nodes.
Machine pcie_box(const GpuModel& gpu, int numas, int switches, int per_switch, CpuKind cpu);

// The hybrid cube mesh of eight V100 (DGX-1).
Machine cube_mesh();

// Sixteen A100, each joined to the four whose number differs in one bit, by one to three NVLinks without
// pattern: almost every set of its GPUs is wired in its own way.
Machine uneven_hypercube();

// Sixteen H200, every third pair or so joined by one to six NVLinks, as the seed says.
Machine random_mesh(unsigned seed);

std::vector<std::vector<int>> group(std::vector<int> gpus);
std::vector<int> first(int count);

}  // namespace wirewise::test
