#include "model/topology/xml/extent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "model/topology/xml/elements.hpp"

namespace wirewise::xml {
namespace {

// The largest systems NCCL sees as one have some 40 CPUs, 72 GPUs and 150 ports (GB200 NVL72).
constexpr std::size_t kMostCpus = 128, kMostDevices = 2048, kMostGpus = 256, kMostPorts = 512;
constexpr int kDeepest = 32;  // of nested PCI bridges; real trees have four

struct Counter : pugi::xml_tree_walker {
    std::size_t cpus = 0, devices = 0, gpus = 0, ports = 0;
    int deepest = 0;

    bool for_each(pugi::xml_node& node) override {
        const std::string_view name = node.name();
        cpus += name == "cpu";
        ports += name == "net";
        if (name != "pci") return true;
        ++devices;
        gpus += role_of(node) == PciRole::gpu;
        deepest = std::max(deepest, depth());
        return true;
    }
};

}  // namespace

std::string beyond_a_server(const pugi::xml_node& system) {
    Counter count;
    pugi::xml_node root = system;
    root.traverse(count);
    if (count.cpus > kMostCpus) return fmt::format("{} CPUs", count.cpus);
    if (count.devices > kMostDevices) return fmt::format("{} PCI devices", count.devices);
    if (count.gpus > kMostGpus) return fmt::format("{} GPUs", count.gpus);
    if (count.ports > kMostPorts) return fmt::format("{} network ports", count.ports);
    if (count.deepest > kDeepest) return fmt::format("PCI bridges {} deep", count.deepest);
    return {};
}

}  // namespace wirewise::xml
