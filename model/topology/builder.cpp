#include "model/topology/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/topology/link_rates.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

MachineLink link_of(LinkKind kind, LinkRates rates, std::optional<BytesPerSecond> by_hand) {
    if (by_hand) rates = {*by_hand, *by_hand};
    MachineLink link;
    link.kind = kind;
    link.plan_rate = rates.plan;
    link.wire_rate = rates.wire;
    return link;
}

// A transfer through a root complex or between two GPUs of one NUMA node meets no limit there but the PCIe
// links.
constexpr BytesPerSecond kUnlimited{1e15};

const GpuModel* model_at(const Machine& machine, NodeId node) {
    for (const MachineGpu& gpu : machine.gpus)
        if (gpu.node == node) return gpu.model;
    return nullptr;
}

}  // namespace

MachineBuilder::MachineBuilder(std::string name, CpuKind cpu) {
    machine_.name = std::move(name);
    machine_.cpu = cpu;
}

NodeId MachineBuilder::add(NodeKind kind, std::string name) {
    int index = 0;
    for (auto [node, end] = boost::vertices(machine_.graph); node != end; ++node)
        index += machine_.graph[*node].kind == kind;
    MachineNode fresh;
    fresh.kind = kind;
    fresh.index = index;
    fresh.name = name.empty() ? fmt::format("{}{}", name_of(kind), index) : std::move(name);
    return boost::add_vertex(fresh, machine_.graph);
}

NodeId MachineBuilder::gpu(const GpuModel* model, std::string busid, int numa, std::string affinity) {
    const NodeId node = add(NodeKind::gpu, {});
    machine_.gpus.push_back({node, model, std::move(busid), std::move(affinity), numa});
    return node;
}

NodeId MachineBuilder::nvswitch() { return add(NodeKind::nvswitch, {}); }
NodeId MachineBuilder::pcie_switch(std::string name) { return add(NodeKind::pcie_switch, std::move(name)); }
NodeId MachineBuilder::numa(std::string name) { return add(NodeKind::numa, std::move(name)); }

NodeId MachineBuilder::host_bridge(NodeId numa) {
    const NodeId bridge = add(NodeKind::host_bridge, {});
    join_both_ways(bridge, numa, link_of(LinkKind::root, {kUnlimited, kUnlimited}, {}));
    return bridge;
}

NodeId MachineBuilder::nic(std::string name, BytesPerSecond line_rate) {
    const NodeId node = add(NodeKind::nic, name);
    machine_.nics.push_back({node, std::move(name), line_rate});
    return node;
}

void MachineBuilder::nvlink(NodeId a, NodeId b, int count, std::optional<BytesPerSecond> rate) {
    const GpuModel* gpu = model_at(machine_, a);
    if (gpu == nullptr) gpu = model_at(machine_, b);
    const bool xgmi = gpu != nullptr && gpu->vendor == "amd";
    MachineLink link = link_of(xgmi ? LinkKind::xgmi : LinkKind::nvlink, nvlink_rates(gpu, count), rate);
    link.count = count;
    join_both_ways(a, b, link);
}

void MachineBuilder::pcie(NodeId a, NodeId b, int generation, int width, std::optional<BytesPerSecond> rate) {
    MachineLink link = link_of(LinkKind::pcie, pcie_rates(generation, width), rate);
    link.pcie_generation = generation;
    link.pcie_width = width;
    join_both_ways(a, b, link);
}

void MachineBuilder::c2c(NodeId gpu, NodeId numa, std::optional<BytesPerSecond> rate) {
    join_both_ways(gpu, numa, link_of(LinkKind::c2c, c2c_rates(model_at(machine_, gpu)), rate));
}

void MachineBuilder::socket(NodeId numa_a, NodeId numa_b, std::optional<BytesPerSecond> rate) {
    join_both_ways(
        numa_a, numa_b,
        link_of(LinkKind::socket, socket_rates(machine_.cpu, newest_pcie_generation(machine_.graph)), rate));
}

void MachineBuilder::join_both_ways(NodeId a, NodeId b, const MachineLink& link) {
    ensure(a != b, "a link joins two nodes");
    MachineLink numbered = link;
    numbered.id = static_cast<int>(boost::num_edges(machine_.graph));
    boost::add_edge(a, b, numbered, machine_.graph);
    ++numbered.id;
    boost::add_edge(b, a, numbered, machine_.graph);
}

Machine MachineBuilder::build() {
    MachineGraph& graph = machine_.graph;
    std::vector<NodeId> numas;
    const int generation = newest_pcie_generation(graph);
    for (auto [node, end] = boost::vertices(graph); node != end; ++node) {
        if (graph[*node].kind != NodeKind::numa) continue;
        numas.push_back(*node);
        if (graph[*node].memory_rate.value() <= 0) graph[*node].memory_rate = memory_rate(generation);
    }
    for (std::size_t a = 0; a < numas.size(); ++a)
        for (std::size_t b = a + 1; b < numas.size(); ++b)
            if (!boost::edge(numas[a], numas[b], graph).second) socket(numas[a], numas[b]);
    return std::move(machine_);
}

}  // namespace wirewise
