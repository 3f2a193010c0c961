#include "model/topology/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

constexpr std::array<std::string_view, 6> kNodeKinds{"GPU",          "NVSwitch", "PCIe switch ",
                                                     "host bridge ", "NUMA ",    "NIC"};
constexpr std::array<std::string_view, 6> kLinkKinds{"NVLink", "xGMI",        "NVLink-C2C",
                                                     "PCIe",   "host bridge", "socket link"};
constexpr std::array<std::string_view, 9> kPathClasses{"X",    "NV",  "PIX", "PXB", "PHB",
                                                       "NODE", "SYS", "NET", "none"};
constexpr std::array<std::string_view, 10> kCpuKinds{"unknown",
                                                     "intel-broadwell",
                                                     "intel-skylake",
                                                     "intel-sapphire-rapids",
                                                     "intel-emerald-rapids",
                                                     "amd-epyc",
                                                     "power9",
                                                     "arm",
                                                     "zhaoxin",
                                                     "yongfeng"};

}  // namespace

std::string_view name_of(NodeKind kind) { return kNodeKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(LinkKind kind) { return kLinkKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(PathClass path) { return kPathClasses[static_cast<std::size_t>(path)]; }
std::string_view name_of(CpuKind cpu) { return kCpuKinds[static_cast<std::size_t>(cpu)]; }

std::optional<CpuKind> cpu_kind_from(std::string_view name) {
    const auto* const found = std::find(kCpuKinds.begin(), kCpuKinds.end(), name);
    if (found == kCpuKinds.end()) return std::nullopt;
    return static_cast<CpuKind>(found - kCpuKinds.begin());
}

std::string describe_link(const Machine& machine, LinkId link) {
    const MachineGraph& graph = machine.graph;
    const MachineLink& wire = graph[link];
    const std::string ends =
        fmt::format("{}-{}", graph[boost::source(link, graph)].name, graph[boost::target(link, graph)].name);
    const std::string rate = to_text(wire.wire_rate);
    switch (wire.kind) {
        case LinkKind::nvlink:
        case LinkKind::xgmi:
            return fmt::format("{} {} (x{}, {})", name_of(wire.kind), ends, wire.count, rate);
        case LinkKind::pcie:
            return fmt::format("PCIe gen{} x{} {} ({})", wire.pcie_generation, wire.pcie_width, ends, rate);
        case LinkKind::c2c:
        case LinkKind::root:
            return fmt::format("{} {} ({})", name_of(wire.kind), ends, rate);
        case LinkKind::socket:
            return fmt::format("host bridge {} socket link ({})", ends, rate);
    }
    return ends;
}

Machine without_links(Machine machine, LinkKind kind) {
    boost::remove_edge_if([&](LinkId link) { return machine.graph[link].kind == kind; }, machine.graph);
    return machine;
}

Machine join(Machine machine, int servers, Fabric fabric) {
    ensure(servers >= 1, "at least one server");
    if (servers > 1 && machine.nics.empty() && fabric.nics_per_gpu <= 0)
        throw InputError(machine.name, "has no NIC to join several servers by",
                         "name a --fabric that says its NICs, or a machine with NICs");
    machine.servers = servers;
    machine.fabric = std::move(fabric);
    return machine;
}

}  // namespace wirewise
