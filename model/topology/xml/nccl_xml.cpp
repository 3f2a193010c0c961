#include "model/topology/xml/nccl_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/topology/builder.hpp"
#include "model/topology/xml/elements.hpp"
#include "model/topology/xml/extent.hpp"
#include "model/topology/xml/links.hpp"

namespace wirewise {
namespace {

using xml::PciRole;
using xml::PciSpeed;

// The narrowest PCIe uplink between a device and its CPU.
struct Narrowest {
    PciSpeed speed;
    std::string busid;
};

// Reads a tree that is not beyond a server.
class XmlReader {
  public:
    XmlReader(const pugi::xml_node& system, const ImportHints& hints)
        : system_(system), hints_(hints), builder_(hints.name, cpu_kind()) {}

    void read(ImportResult& result) {
        for (const pugi::xml_node& cpu : system_.children("cpu")) collect(cpu);
        number_gpus();
        for (xml::Gpu& gpu : gpus_) nodes_[gpu.pci.internal_object()] = add_gpu(gpu);
        for (const pugi::xml_node& cpu : system_.children("cpu")) read_cpu(cpu);
        xml::add_links(builder_, gpus_, warnings_);
        doubt();
        result.warnings = warnings_;
        if (gpus_.empty()) return;
        Machine machine = builder_.build();
        machine.description = "read from an NCCL topology XML";
        result.facts = facts_of(machine);
        result.machine = std::move(machine);
    }

  private:
    CpuKind cpu_kind() const { return xml::cpu_of(system_.child("cpu")); }

    void collect(const pugi::xml_node& parent) {
        for (const pugi::xml_node& pci : parent.children("pci")) {
            const PciRole role = xml::role_of(pci);
            if (role == PciRole::gpu) gpus_.push_back(gpu_at(pci, parent));
            if (role == PciRole::unknown) ++unknown_devices_;
            if (role == PciRole::bridge) collect(pci);
        }
    }

    xml::Gpu gpu_at(const pugi::xml_node& pci, const pugi::xml_node& parent) {
        xml::Gpu gpu;
        gpu.pci = pci;
        gpu.element = pci.child("gpu");
        gpu.busid = xml::busid_of(pci);
        gpu.model = gpu_model_of_device(pci.attribute("device").value());
        if (gpu.model == nullptr) gpu.model = hints_.gpu;
        gpu.below_cpu = std::string_view(parent.name()) == "cpu";
        return gpu;
    }

    // As CUDA numbers them: by `dev` where the file says it; class-only GPUs after, in the file's order.
    void number_gpus() {
        const auto key = [](const xml::Gpu& gpu) {
            const auto dev = xml::number_in(gpu.element, "dev");
            return dev && *dev >= 0 ? *dev : 1 << 20;
        };
        std::stable_sort(gpus_.begin(), gpus_.end(),
                         [&](const auto& a, const auto& b) { return key(a) < key(b); });
        for (std::size_t i = 0; i < gpus_.size(); ++i) gpus_[i].name = fmt::format("GPU{}", i);
    }

    NodeId add_gpu(xml::Gpu& gpu) {
        int numa = 0;
        pugi::xml_node cpu = gpu.pci.parent();
        while (cpu && std::string_view(cpu.name()) != "cpu") cpu = cpu.parent();
        for (pugi::xml_node at = cpu.previous_sibling("cpu"); at; at = at.previous_sibling("cpu")) ++numa;
        gpu.numa = numa;
        gpu.node = builder_.gpu(gpu.model, gpu.busid, numa);
        return gpu.node;
    }

    void read_cpu(const pugi::xml_node& cpu) {
        const auto id = xml::number_in(cpu, "numaid");
        if (id && *id < 0) hidden_numa_ = true;
        const NodeId numa = builder_.numa(id && *id >= 0 ? fmt::format("NUMA {}", *id) : std::string());
        numas_.push_back(numa);
        for (xml::Gpu& gpu : gpus_)
            if (gpu.numa + 1 == static_cast<int>(numas_.size())) gpu.numa_node = numa;
        // NCCL knows no two host bridges on one NUMA node: everything on it is PHB.
        const NodeId bridge = builder_.host_bridge(numa);
        read_below(cpu, bridge, Narrowest{});
    }

    void read_below(const pugi::xml_node& parent, NodeId above, const Narrowest& uplink) {
        read_nets(parent, above, PciSpeed{});
        for (const pugi::xml_node& pci : parent.children("pci")) {
            const PciSpeed speed = xml::speed_of(pci);
            switch (xml::role_of(pci)) {
                case PciRole::gpu:
                    attach_gpu(pci, above, speed, uplink);
                    break;
                case PciRole::nic:
                    read_nic(pci, above, speed);
                    break;
                case PciRole::bridge:
                    read_bridge(pci, above, speed, uplink);
                    break;
                case PciRole::other:
                case PciRole::unknown:
                    break;
            }
        }
    }

    void read_bridge(const pugi::xml_node& pci, NodeId above, PciSpeed speed, const Narrowest& uplink) {
        const NodeId node = builder_.pcie_switch();
        join(node, above, speed);
        read_below(pci, node, narrower(uplink, speed, pci));
    }

    void join(NodeId node, NodeId above, PciSpeed speed) {
        builder_.pcie(node, above, speed.generation > 0 ? speed.generation : detected_generation(),
                      speed.width);
    }

    // What detection would find where the file gives no speed: the GPUs' own generation.
    int detected_generation() const {
        for (const xml::Gpu& gpu : gpus_)
            if (gpu.model) return gpu.model->pcie_generation;
        return 4;
    }

    static Narrowest narrower(const Narrowest& above, const PciSpeed& speed, const pugi::xml_node& pci) {
        const bool known = speed.rate() > 0,
                   narrow = above.speed.rate() <= 0 || speed.rate() < above.speed.rate();
        return known && narrow ? Narrowest{speed, xml::busid_of(pci)} : above;
    }

    void attach_gpu(const pugi::xml_node& pci, NodeId above, PciSpeed speed, const Narrowest& uplink) {
        join(nodes_.at(pci.internal_object()), above, speed);
        if (uplink.speed.rate() > 0 && speed.rate() > 0 && uplink.speed.rate() < speed.rate())
            throttles_.push_back(fmt::format("{} (generation {} x{}) above {} (generation {} x{})",
                                             uplink.busid, uplink.speed.generation, uplink.speed.width,
                                             xml::busid_of(pci), speed.generation, speed.width));
        if (speed.rate() > 0 && (speed.generation <= 1 || speed.width < 8))
            warnings_.push_back(
                fmt::format("{} has a generation {} x{} link: read while it idled, or throttled",
                            xml::busid_of(pci), speed.generation, speed.width));
    }

    void read_nic(const pugi::xml_node& pci, NodeId above, const PciSpeed& speed) {
        if (read_nets(pci, above, speed)) return;
        join(builder_.nic(xml::busid_of(pci), BytesPerSecond(0)), above, speed);
        ++nameless_nics_;
    }

    // Every <net> is a port of its own; ports of one card are alike to the graph.
    bool read_nets(const pugi::xml_node& parent, NodeId above, const PciSpeed& speed) {
        bool any = false;
        for (const pugi::xml_node& nic : parent.children("nic"))
            for (const pugi::xml_node& net : nic.children("net")) {
                const auto megabits = xml::number_in(net, "speed");
                if (!megabits || *megabits <= 0) speedless_nics_ = true;
                const BytesPerSecond rate(std::max(megabits.value_or(0), 0) * 1e6 / 8);
                join(builder_.nic(net.attribute("name").value(), rate), above, speed);
                any = true;
            }
        return any;
    }

    void doubt() {
        const auto tagged =
            std::count_if(gpus_.begin(), gpus_.end(), [](const xml::Gpu& gpu) { return gpu.element; });
        if (gpus_.empty())
            warnings_.emplace_back(
                "no device can be told to be a GPU: NCCL fills them in by detection, this file alone "
                "does not say how many there are");
        else if (tagged < std::ssize(gpus_))
            warnings_.emplace_back(
                "GPUs told by their PCI class only: NVLinks and ranks are unknown until NCCL detects "
                "them");
        if (unknown_devices_ > 0)
            warnings_.push_back(fmt::format("{} PCI devices without a class: left out", unknown_devices_));
        if (nameless_nics_ > 0)
            warnings_.push_back(fmt::format(
                "{} NICs told by their PCI class only: names and speeds are unknown", nameless_nics_));
        if (speedless_nics_)
            warnings_.emplace_back("a NIC without speed: NCCL would take 10 Gb/s unless it detects more");
        if (std::any_of(gpus_.begin(), gpus_.end(), [](const xml::Gpu& gpu) { return gpu.model == nullptr; }))
            warnings_.emplace_back("a GPU whose device id is not in the catalogue: name it with --gpu");
        if (!throttles_.empty())
            warnings_.push_back(
                fmt::format("the file throttles itself: PCIe bridge {}{}, and transfers are planned at the "
                            "slower of the two",
                            throttles_.front(),
                            throttles_.size() > 1 ? fmt::format(" and {} more", throttles_.size() - 1) : ""));
        doubt_numbers();
        doubt_tree();
    }

    // What a file edited by hand may hold.
    void doubt_numbers() {
        std::set<std::string> busids, numbers;
        for (const xml::Gpu& gpu : gpus_) {
            const std::string number = gpu.element.attribute("dev").value();
            if (!gpu.busid.empty() && !busids.insert(gpu.busid).second)
                warnings_.push_back(fmt::format("two GPUs have the bus id {}", gpu.busid));
            if (!number.empty() && !numbers.insert(number).second)
                warnings_.push_back(fmt::format("two GPUs call themselves dev {}", number));
        }
    }

    void doubt_tree() {
        const bool flat = gpus_.size() >= 4 && std::all_of(gpus_.begin(), gpus_.end(),
                                                           [](const xml::Gpu& gpu) { return gpu.below_cpu; });
        if (hidden_numa_ || flat)
            warnings_.push_back(
                fmt::format("{}: a virtual machine that hides the real PCIe tree looks so; the host's "
                            "topology or measured rates "
                            "would say more",
                            hidden_numa_ ? "the NUMA node is unknown (-1)"
                                         : "every GPU hangs straight from its CPU, no PCIe switch"));
    }

    pugi::xml_node system_;
    const ImportHints& hints_;
    MachineBuilder builder_;
    std::vector<xml::Gpu> gpus_;
    std::map<pugi::xml_node_struct*, NodeId> nodes_;
    std::vector<NodeId> numas_;
    std::vector<std::string> warnings_, throttles_;
    int unknown_devices_ = 0, nameless_nics_ = 0;
    bool speedless_nics_ = false, hidden_numa_ = false;
};

// What an XML that is no topology is instead.
std::string other_kind(const std::string& root) {
    if (root == "graphs") return "an NCCL search result (NCCL_GRAPH_FILE), not a topology";
    if (root == "topology") return "an hwloc (lstopo) dump, not an NCCL topology";
    if (root == "nvidia_smi_log") return "the output of nvidia-smi -q -x, not an NCCL topology";
    return fmt::format("an XML file with the root <{}>, not an NCCL topology", root);
}

}  // namespace

ImportResult import_nccl_xml(std::string_view text, const ImportHints& hints) {
    ImportResult result;
    result.kind = "NCCL topology XML";
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    const pugi::xml_node root = document.first_element_by_path("*");
    const pugi::xml_node element = document.document_element();
    const std::string name = (element ? element : root).name();
    if (name != "system") {
        result.kind = name.empty() ? "XML that cannot be read" : "XML";
        result.warnings.push_back(name.empty()
                                      ? fmt::format("this XML cannot be read: {}", parsed.description())
                                      : "this is " + other_kind(name));
        return result;
    }
    if (const std::string why = xml::beyond_a_server(element); !why.empty()) {
        result.warnings.push_back(fmt::format("this describes more than one server: {}", why));
        return result;
    }
    XmlReader(element, hints).read(result);
    result.verdict = Verdict::ok;
    if (!parsed) {
        result.verdict = Verdict::incomplete;
        result.missing.push_back(
            fmt::format("the file from byte {} on: {}", parsed.offset, parsed.description()));
        result.machine.reset();
    } else if (!element.child("cpu")) {
        result.verdict = Verdict::incomplete;
        result.missing.emplace_back("every <cpu>: the file holds no device tree");
    }
    return result;
}

}  // namespace wirewise
