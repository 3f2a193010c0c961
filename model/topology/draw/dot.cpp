#include <fmt/format.h>

#include "model/topology/draw/draw.hpp"
#include "model/topology/draw/tree.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

constexpr std::string_view style_of(NodeKind kind) {
    switch (kind) {
        case NodeKind::gpu:
            return "shape=box style=\"rounded,filled\" fillcolor=\"#cfe3f2\"";
        case NodeKind::nvswitch:
            return "shape=box style=filled fillcolor=\"#0072b2\" fontcolor=white";
        case NodeKind::pcie_switch:
            return "shape=box style=filled fillcolor=\"#d5dbe0\"";
        case NodeKind::host_bridge:
            return "shape=point width=0.12";
        case NodeKind::numa:
            return "shape=box style=filled fillcolor=\"#26323c\" fontcolor=white";
        case NodeKind::nic:
            return "shape=ellipse";
    }
    return "";
}

std::string label_of(const MachineLink& link) {
    switch (link.kind) {
        case LinkKind::nvlink:
            return fmt::format("NV{} {}", link.count, to_text(link.wire_rate));
        case LinkKind::xgmi:
            return fmt::format("xGMI x{} {}", link.count, to_text(link.wire_rate));
        case LinkKind::pcie:
            return fmt::format("gen{} x{}", link.pcie_generation, link.pcie_width);
        case LinkKind::root:
            return "";
        case LinkKind::c2c:
        case LinkKind::socket:
            return to_text(link.wire_rate);
    }
    return "";
}

bool is_narrow(const Machine& machine, const draw::Tree& tree, const draw::Bottleneck& bottleneck,
               LinkId link) {
    const MachineGraph& graph = machine.graph;
    if (graph[link].kind == LinkKind::socket)
        return bottleneck.socket && graph[link].wire_rate == bottleneck.rate;
    for (const int index : bottleneck.links) {
        const NodeId node = tree.nodes[static_cast<std::size_t>(index)].node;
        if (graph[link].kind == LinkKind::pcie &&
            (boost::source(link, graph) == node || boost::target(link, graph) == node) &&
            graph[link].wire_rate == bottleneck.rate)
            return true;
    }
    return false;
}

}  // namespace

std::string to_dot(const Machine& machine) {
    const MachineGraph& graph = machine.graph;
    const draw::Tree tree = draw::tree_of(machine);
    const draw::Bottleneck bottleneck = draw::bottleneck_of(machine, tree);
    std::string out = fmt::format(
        "graph {} {{\n  label={} labelloc=t fontname=\"sans-serif\"\n"
        "  node [fontname=\"sans-serif\"] edge [fontname=\"sans-serif\" fontsize=10]\n",
        quoted(machine.name), quoted(machine.name));
    for (auto [node, end] = boost::vertices(graph); node != end; ++node)
        out += fmt::format("  n{} [label={} {}]\n", *node, quoted(graph[*node].name),
                           style_of(graph[*node].kind));
    for (auto [link, end] = boost::edges(graph); link != end; ++link) {
        const NodeId a = boost::source(*link, graph), b = boost::target(*link, graph);
        if (a > b) continue;  // both directions are alike: one line
        const bool island = graph[*link].kind == LinkKind::nvlink || graph[*link].kind == LinkKind::xgmi;
        const bool narrow = is_narrow(machine, tree, bottleneck, *link);
        out += fmt::format("  n{} -- n{} [label={} color=\"{}\" penwidth={}]\n", a, b,
                           quoted(label_of(graph[*link])),
                           narrow   ? "#d11f2e"
                           : island ? "#0072b2"
                                    : "#8794a0",
                           island   ? 3
                           : narrow ? 2.5
                                    : 1.2);
    }
    return out + "}\n";
}

}  // namespace wirewise
