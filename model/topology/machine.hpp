// The machine as a graph: GPUs, NVSwitches, PCIe switches, host bridges (one per NUMA node), NICs and networks, joined
// by directed links that carry kind, rate and latency. Everything that limits a transfer is an edge or a node of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include "model/topology/gpu.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

enum class NodeKind : std::uint8_t { gpu, nvswitch, pcie_switch, host_bridge, nic, network };
enum class LinkKind : std::uint8_t { nvlink, xgmi, c2c, pcie, socket, network };

struct MachineNode {
    NodeKind kind = NodeKind::gpu;
    std::string name;   // "GPU0", "mlx5_0", "NUMA 0"
    int index = -1;     // among its kind
    int server = 0;     // which of the joined machines it stands in
};

// One direction of a link. `plan_rate` is the figure NCCL plans with (it steers the search), `wire_rate` what the wire
// carries (it times the run); see notes in link_rates.cpp.
struct MachineLink {
    LinkKind kind = LinkKind::pcie;
    int count = 1;  // NVLinks bundled
    BytesPerSecond plan_rate, wire_rate;
    Seconds latency;
};

using MachineGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, MachineNode, MachineLink>;
using NodeId = MachineGraph::vertex_descriptor;

// As NVIDIA prints them (nvidia-smi topo -m), best to worst.
enum class PathClass : std::uint8_t { self, nvlink, pix, pxb, phb, node, sys, network };
std::string_view name_of(PathClass path);

enum class CpuKind : std::uint8_t {
    unknown, intel_broadwell, intel_skylake, intel_sapphire_rapids, intel_emerald_rapids,
    amd_epyc, power9, arm, zhaoxin,
};

struct MachineGpu {
    NodeId node{};
    const GpuModel* model = nullptr;  // null: not known (a pasted matrix does not say)
    std::string busid, affinity;
    int numa = -1;
};

struct MachineNic {
    NodeId node{};
    std::string name;
    BytesPerSecond rate;  // one way
};

struct Machine {
    std::string name, description, source;
    MachineGraph graph;
    std::vector<MachineGpu> gpus;  // by index, as the driver numbers them
    std::vector<MachineNic> nics;
    CpuKind cpu = CpuKind::unknown;
    Bytes host_memory;  // 0: not known
    int servers = 1;
    std::string fabric;  // name of the network that joins several servers; empty for one

    int gpus_per_server() const { return static_cast<int>(gpus.size()) / servers; }
};

PathClass path_class(const Machine& machine, NodeId a, NodeId b);
int nvlink_count(const Machine& machine, int gpu_a, int gpu_b);  // as nvidia-smi prints NV#; 0: none
// GPU sets joined by NVLink or NVSwitch; singletons included; ordered.
std::vector<std::vector<int>> islands(const Machine& machine);

}  // namespace wirewise
