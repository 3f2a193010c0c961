// JSON -> Machine.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "model/topology/builder.hpp"
#include "model/topology/machine_json.hpp"
#include "model/topology/pcie_text.hpp"
#include "model/units/error.hpp"
#include "model/units/near.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

constexpr int kMostGpus = 256;  // of one server: an NVL72 rack has 72
constexpr int kMostLinks = 72;  // of one GPU
constexpr int kDeepest = 32;    // of nested PCIe switches; real trees have four

// A GPU as the file says it, before it has a node: GPUs are numbered by index, wherever in the tree they
// stand.
struct GpuEntry {
    JsonView view;
    int numa = -1;
};

class Reader {
  public:
    Reader(const Json& json, std::string_view file)
        : root_(json, std::string(file)), builder_(root_.at("name").text(), cpu()) {}

    Machine machine() {
        root_.expect_keys({"schema", "name", "description", "source", "cpu", "host_memory", "gpu", "pcie",
                           "nic_rate", "pcie_peer_to_peer", "numa", "nvlink", "c2c", "sockets", "notes"});
        read_facts();
        add_gpus();
        const std::vector<JsonView> numas = root_.at("numa").items();
        for (std::size_t i = 0; i < numas.size(); ++i) read_numa(numas[i], static_cast<int>(i));
        if (const auto nvlink = root_.find("nvlink"))
            for (const JsonView& entry : nvlink->items()) read_nvlink(entry);
        if (const auto c2c = root_.find("c2c")) read_c2c(*c2c);
        if (const auto sockets = root_.find("sockets"))
            for (const JsonView& entry : sockets->items()) read_socket(entry);
        Machine built = builder_.build();
        for (const auto& [node, rate] : memory_rates_) built.graph[node].memory_rate = rate;
        return built;
    }

  private:
    CpuKind cpu() const {
        const auto text = root_.find("cpu");
        if (!text) return CpuKind::unknown;
        const auto kind = cpu_kind_from(text->text());
        if (!kind)
            text->refuse(fmt::format("\"{}\" is not a CPU kind", text->text()),
                         "for example intel-sapphire-rapids, amd-epyc, arm, unknown");
        return *kind;
    }

    void read_facts() {
        Machine& machine = builder_.machine();
        if (const auto text = root_.find("description")) machine.description = text->text();
        if (const auto text = root_.find("source")) machine.source = text->text();
        if (const auto amount = root_.find("host_memory")) machine.host_memory = amount->bytes();
        if (const auto allowed = root_.find("pcie_peer_to_peer"))
            machine.pcie_peer_to_peer = allowed->boolean();
        if (const auto kind = root_.find("gpu")) default_gpu_ = model(*kind);
        if (const auto rate = root_.find("nic_rate")) nic_rate_ = rate->bandwidth();
        if (default_gpu_) default_pcie_ = {default_gpu_->pcie_generation, default_gpu_->pcie_width, {}};
        if (const auto link = root_.find("pcie")) default_pcie_ = pcie_link(*link);
    }

    static const GpuModel* model(const JsonView& view) {
        try {
            return &gpu_model(view.text());
        } catch (const InputError& error) {
            view.refuse(error.problem(), error.remedy());
        }
    }

    static PcieLink pcie_link(const JsonView& view) { return parse_pcie(view.text(), view.place()); }

    PcieLink link_of(const JsonView& view) const {
        const auto link = view.value().is_object() ? view.find("link") : std::nullopt;
        return link ? pcie_link(*link) : default_pcie_;
    }

    // Every GPU entry of the tree, so that they can be added in order of their index.
    void collect(const JsonView& place, int numa, std::map<int, GpuEntry>& found, int depth = 0) const {
        if (depth > kDeepest) root_.at("numa").refuse("is nested too deep", "nest switches at most 32 deep");
        if (const auto gpus = place.find("gpus"))
            for (const JsonView& gpu : gpus->items()) {
                const JsonView index = gpu.value().is_object() ? gpu.at("index") : gpu;
                if (!found.try_emplace(index.integer(0, kMostGpus - 1), GpuEntry{gpu, numa}).second)
                    index.refuse("this GPU stands here and elsewhere");
            }
        for (const char* key : {"bridges", "switches"})
            if (const auto below = place.find(key))
                for (const JsonView& child : below->items()) collect(child, numa, found, depth + 1);
    }

    void add_gpus() {
        std::map<int, GpuEntry> found;
        const std::vector<JsonView> numas = root_.at("numa").items();
        for (std::size_t i = 0; i < numas.size(); ++i) collect(numas[i], static_cast<int>(i), found);
        if (found.empty()) root_.at("numa").refuse("holds no GPU");
        int next = 0;
        for (const auto& [index, entry] : found) {
            if (index != next++)
                root_.at("numa").refuse(fmt::format("GPU {} is missing", next - 1), "number GPUs from 0");
            add_gpu(entry);
        }
    }

    void add_gpu(const GpuEntry& entry) {
        const JsonView& view = entry.view;
        const GpuModel* kind = default_gpu_;
        std::string busid, affinity;
        if (view.value().is_object()) {
            view.expect_keys({"index", "gpu", "busid", "affinity", "link"});
            if (const auto text = view.find("gpu")) kind = text->value().is_null() ? nullptr : model(*text);
            if (const auto text = view.find("busid")) busid = text->text();
            if (const auto text = view.find("affinity")) affinity = text->text();
        }
        gpus_.push_back(builder_.gpu(kind, busid, entry.numa, affinity));
    }

    void read_numa(const JsonView& view, int index) {
        view.expect_keys({"name", "memory_rate", "gpus", "nics", "switches", "bridges"});
        const auto name = view.find("name");
        const NodeId numa = builder_.numa(name ? name->text() : fmt::format("NUMA {}", index));
        numas_.push_back(numa);
        if (const auto rate = view.find("memory_rate")) memory_rates_[numa] = rate->bandwidth();
        if (const auto bridges = view.find("bridges"))
            for (const JsonView& bridge : bridges->items()) {
                bridge.expect_keys({"gpus", "nics", "switches"});
                const NodeId node = builder_.host_bridge(numa);
                read_below(bridge, {node, false});
            }
        read_below(view, {numa, true});
    }

    // What devices hang from: one node, or a host bridge of their own each, below a NUMA node.
    struct Parent {
        NodeId node;
        bool is_numa;
    };

    NodeId place_below(const Parent& parent) {
        return parent.is_numa ? builder_.host_bridge(parent.node) : parent.node;
    }

    void read_below(const JsonView& view, const Parent& parent) {
        if (const auto gpus = view.find("gpus"))
            for (const JsonView& gpu : gpus->items()) {
                const JsonView index = gpu.value().is_object() ? gpu.at("index") : gpu;
                attach(gpus_[static_cast<std::size_t>(index.integer(0, kMostGpus - 1))], place_below(parent),
                       link_of(gpu));
            }
        if (const auto nics = view.find("nics"))
            for (const JsonView& nic : nics->items()) attach(add_nic(nic), place_below(parent), link_of(nic));
        if (const auto switches = view.find("switches"))
            for (const JsonView& entry : switches->items()) read_switch(entry, place_below(parent));
    }

    void read_switch(const JsonView& view, NodeId above) {
        view.expect_keys({"name", "link", "gpus", "nics", "switches"});
        const auto name = view.find("name");
        const NodeId node = builder_.pcie_switch(name ? name->text() : std::string());
        attach(node, above, link_of(view));
        read_below(view, {node, false});
    }

    NodeId add_nic(const JsonView& view) {
        if (view.value().is_string()) return builder_.nic(view.text(), nic_rate_);
        view.expect_keys({"name", "rate", "link"});
        const auto rate = view.find("rate");
        return builder_.nic(view.at("name").text(), rate ? rate->bandwidth() : nic_rate_);
    }

    void attach(NodeId device, NodeId parent, const PcieLink& link) {
        builder_.pcie(device, parent, link.generation, link.width, link.rate);
    }

    std::vector<NodeId> gpu_list(const JsonView& view) const {
        std::vector<NodeId> nodes;
        std::set<int> seen;
        for (const JsonView& item : view.items()) {
            const int index = item.integer(0, static_cast<int>(gpus_.size()) - 1);
            if (!seen.insert(index).second) item.refuse("the same GPU twice");
            nodes.push_back(gpus_[static_cast<std::size_t>(index)]);
        }
        return nodes;
    }

    void read_nvlink(const JsonView& view) {
        view.expect_keys({"switch", "mesh", "pair", "links", "rate"});
        const auto rate = view.find("rate");
        const std::optional<BytesPerSecond> by_hand = rate ? std::optional(rate->bandwidth()) : std::nullopt;
        if (const auto list = view.find("switch")) {
            join_by_switch(gpu_list(*list), view.at("links"), by_hand);
            return;
        }
        const int links = view.at("links").integer(1, kMostLinks);
        const JsonView list = view.at(view.has("mesh") ? "mesh" : "pair");
        const std::vector<NodeId> nodes = gpu_list(list);
        if (nodes.size() < 2 || (view.has("pair") && nodes.size() != 2))
            list.refuse("two GPUs or more are joined");
        for (std::size_t a = 0; a < nodes.size(); ++a)
            for (std::size_t b = a + 1; b < nodes.size(); ++b) {
                if (boost::edge(nodes[a], nodes[b], builder_.machine().graph).second)
                    list.refuse("two of these GPUs are joined by another entry already");
                builder_.nvlink(nodes[a], nodes[b], links, by_hand);
            }
    }

    // `links`: one number for all, or one per GPU where some have lost links.
    void join_by_switch(const std::vector<NodeId>& gpus, const JsonView& links,
                        std::optional<BytesPerSecond> rate) {
        const std::vector<JsonView> each =
            links.value().is_array() ? links.items() : std::vector(gpus.size(), links);
        if (each.size() != gpus.size()) links.refuse("not as long as the list of GPUs");
        const NodeId hub = builder_.nvswitch();
        for (std::size_t i = 0; i < gpus.size(); ++i)
            builder_.nvlink(gpus[i], hub, each[i].integer(1, kMostLinks), rate);
    }

    // NVLink-C2C: true, or the rate of every GPU to the CPU it is soldered to.
    void read_c2c(const JsonView& view) {
        if (view.value().is_boolean() && !view.boolean()) return;
        const std::optional<BytesPerSecond> rate =
            view.value().is_boolean() ? std::nullopt : std::optional(view.bandwidth());
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            const int numa = builder_.machine().gpus[i].numa;
            builder_.c2c(gpus_[i], numas_[static_cast<std::size_t>(numa)], rate);
        }
    }

    void read_socket(const JsonView& view) {
        view.expect_keys({"between", "rate"});
        const std::vector<JsonView> ends = view.at("between").items();
        if (ends.size() != 2) view.at("between").refuse("two NUMA nodes are joined", "write [0, 1]");
        const int most = static_cast<int>(numas_.size()) - 1;
        const int a = ends[0].integer(0, most), b = ends[1].integer(0, most);
        if (a == b) view.at("between").refuse("a NUMA node is joined to itself");
        builder_.socket(numas_[static_cast<std::size_t>(a)], numas_[static_cast<std::size_t>(b)],
                        view.at("rate").bandwidth());
    }

    JsonView root_;
    MachineBuilder builder_;
    const GpuModel* default_gpu_ = nullptr;
    PcieLink default_pcie_{4, 16, {}};
    BytesPerSecond nic_rate_;
    std::vector<NodeId> gpus_, numas_;
    std::map<NodeId, BytesPerSecond> memory_rates_;
};

}  // namespace

Machine machine_from_json(const Json& json, std::string_view file) {
    const JsonView root(json, std::string(file));
    const auto schema = root.find("schema");
    if (!schema || schema->value() != "wirewise.machine/1")
        root.refuse("not a wirewise machine", "its first key is \"schema\": \"wirewise.machine/1\"");
    return Reader(json, file).machine();
}

Machine machine_from_json_text(std::string_view text, std::string_view file) {
    return machine_from_json(parse_topology_json(text, file), file);
}

}  // namespace wirewise
