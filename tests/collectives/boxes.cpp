#include "tests/collectives/boxes.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <random>

namespace wirewise::test {
namespace {

GpuModel gpu_of(std::string name, double capability, int links, int version, double terabytes, int pcie) {
    GpuModel gpu;
    gpu.name = std::move(name);
    gpu.vendor = "nvidia";
    gpu.compute_capability = capability;
    gpu.nvlinks = links;
    gpu.nvlink_version = version;
    gpu.memory_bandwidth = BytesPerSecond(terabytes * 1e12);
    gpu.pcie_generation = pcie;
    return gpu;
}

// Four to a NUMA node; `links(a, b)`: NVLinks of a pair.
template <class Links>
Machine mesh_of_sixteen(std::string name, const GpuModel& gpu, Links&& links) {
    MachineBuilder build(std::move(name), CpuKind::amd_epyc);
    std::vector<NodeId> gpus;
    NodeId numa{};
    for (int i = 0; i < 16; ++i) {
        if (i % 4 == 0) numa = build.numa();
        gpus.push_back(build.gpu(&gpu));
        build.pcie(gpus.back(), build.host_bridge(numa), 4);
    }
    for (unsigned a = 0; a < 16; ++a)
        for (unsigned b = a + 1; b < 16; ++b)
            if (const int count = links(a, b); count > 0) build.nvlink(gpus[a], gpus[b], count);
    return build.build();
}

}  // namespace

const GpuModel& v100() {
    static const GpuModel gpu = gpu_of("v100", 7.0, 6, 2, 0.9, 3);
    return gpu;
}
const GpuModel& a100() {
    static const GpuModel gpu = gpu_of("a100", 8.0, 12, 3, 2.0, 4);
    return gpu;
}
const GpuModel& h200() {
    static const GpuModel gpu = gpu_of("h200", 9.0, 18, 4, 4.8, 5);
    return gpu;
}
const GpuModel& b200() {
    static const GpuModel gpu = gpu_of("b200", 10.0, 18, 5, 8.0, 5);
    return gpu;
}
const GpuModel& geforce() {
    static const GpuModel gpu = [] {
        GpuModel made = gpu_of("geforce", 8.9, 0, 0, 1.0, 4);
        made.pcie_peer_to_peer = false;
        return made;
    }();
    return gpu;
}

Machine switch_box(const GpuModel& gpu, int count, BytesPerSecond nic) {
    MachineBuilder build("switch box", CpuKind::intel_sapphire_rapids);
    const NodeId nvswitch = build.nvswitch();
    NodeId numa{}, bridge{};
    for (int i = 0; i < count; ++i) {
        if (i % 4 == 0) numa = build.numa();
        bridge = build.host_bridge(numa);
        const NodeId plx = build.pcie_switch();
        build.pcie(plx, bridge, gpu.pcie_generation);
        const NodeId node = build.gpu(&gpu);
        build.pcie(node, plx, gpu.pcie_generation);
        build.nvlink(node, nvswitch, gpu.nvlinks);
        if (nic.value() > 0)
            build.pcie(build.nic("mlx5_" + std::to_string(i), nic), plx, gpu.pcie_generation);
    }
    return build.build();
}

Machine bridge_groups(const GpuModel& gpu, int islands, int size, int links, CpuKind cpu) {
    MachineBuilder build("bridge groups", cpu);
    for (int island = 0; island < islands; ++island) {
        const NodeId numa = build.numa();
        std::vector<NodeId> members;
        for (int i = 0; i < size; ++i) {
            members.push_back(build.gpu(&gpu));
            build.pcie(members.back(), build.host_bridge(numa), gpu.pcie_generation);
            for (int other = 0; other < i && links > 0; ++other)
                build.nvlink(members[static_cast<std::size_t>(other)], members.back(), links);
        }
    }
    return build.build();
}

Machine pcie_box(const GpuModel& gpu, int numas, int switches, int per_switch, CpuKind cpu) {
    MachineBuilder build("pcie box", cpu);
    for (int n = 0; n < numas; ++n) {
        const NodeId numa = build.numa();
        for (int s = 0; s < switches; ++s) {
            const NodeId plx = build.pcie_switch();
            build.pcie(plx, build.host_bridge(numa), gpu.pcie_generation);
            for (int i = 0; i < per_switch; ++i) build.pcie(build.gpu(&gpu), plx, gpu.pcie_generation);
        }
    }
    return build.build();
}

Machine cube_mesh() {
    MachineBuilder build("cube mesh", CpuKind::intel_broadwell);
    std::vector<NodeId> gpus;
    NodeId numa{}, plx{};
    for (int i = 0; i < 8; ++i) {
        if (i % 4 == 0) numa = build.numa();
        if (i % 2 == 0) build.pcie(plx = build.pcie_switch(), build.host_bridge(numa), 3);
        gpus.push_back(build.gpu(&v100()));
        build.pcie(gpus.back(), plx, 3);
    }
    // NVIDIA DGX-1 (V100) system architecture white paper, 2017: the doubled edges.
    constexpr std::array<std::array<int, 3>, 16> kEdges{{{0, 1, 1},
                                                         {0, 2, 1},
                                                         {0, 3, 2},
                                                         {0, 4, 2},
                                                         {1, 2, 2},
                                                         {1, 3, 1},
                                                         {1, 5, 2},
                                                         {2, 3, 2},
                                                         {2, 6, 1},
                                                         {3, 7, 1},
                                                         {4, 5, 1},
                                                         {4, 6, 1},
                                                         {4, 7, 2},
                                                         {5, 6, 2},
                                                         {5, 7, 1},
                                                         {6, 7, 2}}};
    for (const auto& [a, b, links] : kEdges)
        build.nvlink(gpus[static_cast<std::size_t>(a)], gpus[static_cast<std::size_t>(b)], links);
    return build.build();
}

Machine uneven_hypercube() {
    return mesh_of_sixteen("uneven hypercube", a100(), [](unsigned a, unsigned b) {
        return std::has_single_bit(a ^ b) ? 1 + static_cast<int>((a * 2654435761U + b * 40503U) >> 7) % 3 : 0;
    });
}

Machine random_mesh(unsigned seed) {
    std::mt19937 random(seed);
    return mesh_of_sixteen("random mesh", h200(), [&](unsigned, unsigned) {
        return random() % 3 == 0 ? 1 + static_cast<int>(random() % 6) : 0;
    });
}

std::vector<std::vector<int>> group(std::vector<int> gpus) { return {std::move(gpus)}; }

std::vector<int> first(int count) {
    std::vector<int> gpus(static_cast<std::size_t>(count));
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

}  // namespace wirewise::test
