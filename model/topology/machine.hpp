// The machine as a graph: GPUs, NVSwitches, PCIe switches, host bridges, NUMA nodes and NICs of one server,
// joined by directed links that carry kind, rate and latency. Everything that limits a transfer is a link or
// a node of it. A cluster is that server several times over a fabric: the servers are alike, so the graph is
// kept once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include "model/topology/fabric.hpp"
#include "model/topology/gpu.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

// host_bridge: a PCIe root complex. numa: a NUMA node with its memory; several host bridges may hang from
// one.
enum class NodeKind : std::uint8_t { gpu, nvswitch, pcie_switch, host_bridge, numa, nic };
// root: host bridge to its NUMA node, on the die (no limit of its own). socket: NUMA node to NUMA node.
enum class LinkKind : std::uint8_t { nvlink, xgmi, c2c, pcie, root, socket };
std::string_view name_of(NodeKind kind);
std::string_view name_of(LinkKind kind);

struct MachineNode {
    NodeKind kind = NodeKind::gpu;
    std::string name;            // "GPU0", "mlx5_0", "NUMA 0"
    int index = -1;              // among its kind
    BytesPerSecond memory_rate;  // numa: its DRAM, reads and writes together; 0 elsewhere
};

// One direction of a link. `plan_rate` is the figure NCCL plans with (it steers the search), `wire_rate` what
// the wire carries (it times the run); link_rates.hpp says where both come from.
struct MachineLink {
    int id = -1;  // dense over all links of the machine, set by the builder
    LinkKind kind = LinkKind::pcie;
    int count = 1;                            // NVLinks bundled
    int pcie_generation = 0, pcie_width = 0;  // pcie only
    BytesPerSecond plan_rate, wire_rate;
    Seconds latency;
};

using MachineGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, MachineNode, MachineLink>;
using NodeId = MachineGraph::vertex_descriptor;
using LinkId = MachineGraph::edge_descriptor;

// As NVIDIA prints them (nvidia-smi topo -m), best to worst. network: another server; none: no path at all.
enum class PathClass : std::uint8_t { self, nvlink, pix, pxb, phb, node, sys, network, none };
std::string_view name_of(PathClass path);  // "X", "NV", "PIX", ...

enum class CpuKind : std::uint8_t {
    unknown,
    intel_broadwell,
    intel_skylake,
    intel_sapphire_rapids,
    intel_emerald_rapids,
    amd_epyc,
    power9,
    arm,
    zhaoxin,
    yongfeng,
};
std::string_view name_of(CpuKind cpu);  // "intel-emerald-rapids"; as machine files write it
std::optional<CpuKind> cpu_kind_from(std::string_view name);

struct MachineGpu {
    NodeId node{};
    const GpuModel* model = nullptr;  // null: not known (a pasted matrix does not say)
    std::string busid, affinity;
    int numa = -1;
};

struct MachineNic {
    NodeId node{};
    std::string name;
    BytesPerSecond rate;  // of the line, one way
};

struct Machine {
    std::string name, description, source;
    MachineGraph graph;            // of one server
    std::vector<MachineGpu> gpus;  // of one server, by index, as the driver numbers them
    std::vector<MachineNic> nics;  // of one server
    CpuKind cpu = CpuKind::unknown;
    Bytes host_memory;  // 0: not known
    // What is known about peer-to-peer over PCIe beyond the GPU's kind: a `-p2p` matrix, a virtual machine.
    std::optional<bool> pcie_peer_to_peer;
    int servers = 1;  // alike, joined by `fabric`
    Fabric fabric;    // unnamed for one server

    int gpus_per_server() const { return static_cast<int>(gpus.size()); }
    int gpu_count() const { return gpus_per_server() * servers; }
    // GPUs are numbered through all servers: GPU g stands in server g / gpus_per_server().
    int server_of(int gpu) const { return gpu / gpus_per_server(); }
    const MachineGpu& gpu(int index) const {
        return gpus[static_cast<std::size_t>(index % gpus_per_server())];
    }
};

// Between two nodes of one server, and between two GPUs anywhere.
PathClass path_class(const Machine& machine, NodeId a, NodeId b);
PathClass path_class_of_gpus(const Machine& machine, int gpu_a, int gpu_b);

int nvlink_count(const Machine& machine, int gpu_a, int gpu_b);  // as nvidia-smi prints NV#; 0: none

// GPU sets of one server joined by NVLink, xGMI or NVSwitch; singletons included; ordered.
std::vector<std::vector<int>> islands(const Machine& machine);

// The narrowest link of the best path, one way, at wire rates: what two devices can exchange.
BytesPerSecond path_rate(const Machine& machine, NodeId a, NodeId b);

// For people: "NVLink GPU0-GPU1 (6 links, 124 GB/s)".
std::string describe_link(const Machine& machine, LinkId link);

// The machine without any link of a kind (nvswitches that lose all their links stay, unused).
Machine without_links(Machine machine, LinkKind kind);

// The machine `servers` times over the fabric. Throws InputError where it has no NIC.
Machine join(Machine machine, int servers, Fabric fabric);

}  // namespace wirewise
