// Machine -> JSON, the form machine_read.cpp reads.
#include <algorithm>
#include <map>

#include "model/topology/json_layout.hpp"
#include "model/topology/link_rates.hpp"
#include "model/topology/machine_json.hpp"
#include "model/topology/pcie_text.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

// The value that occurs most often; the first of equals.
template <class T>
std::optional<T> most_common(const std::vector<T>& values) {
    std::optional<T> best;
    std::ptrdiff_t most = 0;
    for (const T& value : values)
        if (const auto n = std::count(values.begin(), values.end(), value); n > most) best = value, most = n;
    return best;
}

// The keys of one place of the tree, always in the order people write them.
Json in_order(Json place) {
    Json out = Json::object();
    for (const char* key : {"name", "memory_rate", "link", "bridges", "gpus", "nics", "switches"})
        if (place.contains(key)) out[key] = std::move(place[key]);
    return out;
}

bool same(BytesPerSecond plan, BytesPerSecond wire, const LinkRates& usual) {
    return plan == usual.plan && wire == usual.wire;
}

class Writer {
  public:
    explicit Writer(const Machine& machine) : machine_(machine), graph_(machine.graph) {
        std::vector<std::string> links, kinds;
        for (auto [link, end] = boost::edges(graph_); link != end; ++link)
            if (graph_[*link].kind == LinkKind::pcie) links.push_back(pcie_text(graph_[*link]));
        for (const MachineGpu& gpu : machine.gpus) kinds.push_back(gpu.model ? gpu.model->name : "");
        usual_pcie_ = most_common(links).value_or("gen4 x16");
        usual_gpu_ = most_common(kinds).value_or("");
        std::vector<double> rates;
        for (const MachineNic& nic : machine.nics) rates.push_back(nic.rate.value());
        usual_nic_ = BytesPerSecond(most_common(rates).value_or(0));
    }

    Json json() const {
        Json out{{"schema", "wirewise.machine/1"}, {"name", machine_.name}};
        if (!machine_.description.empty()) out["description"] = machine_.description;
        if (!machine_.source.empty()) out["source"] = machine_.source;
        out["cpu"] = name_of(machine_.cpu);
        if (machine_.host_memory.count() > 0) out["host_memory"] = exact_text(machine_.host_memory);
        if (!usual_gpu_.empty()) out["gpu"] = usual_gpu_;
        out["pcie"] = usual_pcie_;
        if (usual_nic_.value() > 0) out["nic_rate"] = exact_text(usual_nic_);
        if (machine_.pcie_peer_to_peer) out["pcie_peer_to_peer"] = *machine_.pcie_peer_to_peer;
        for (const NodeId numa : nodes_of(NodeKind::numa)) out["numa"].push_back(numa_json(numa));
        if (Json nvlink = nvlink_json(); !nvlink.empty()) out["nvlink"] = std::move(nvlink);
        if (const MachineLink* c2c = first_link(LinkKind::c2c)) {
            const bool usual = same(c2c->plan_rate, c2c->wire_rate, c2c_rates(nullptr));
            out["c2c"] = usual ? Json(true) : Json(exact_text(c2c->wire_rate));
        }
        if (Json sockets = sockets_json(); !sockets.empty()) out["sockets"] = std::move(sockets);
        return out;
    }

  private:
    std::vector<NodeId> nodes_of(NodeKind kind) const {
        std::vector<NodeId> all;
        for (auto [node, end] = boost::vertices(graph_); node != end; ++node)
            if (graph_[*node].kind == kind) all.push_back(*node);
        return all;
    }

    const MachineLink* first_link(LinkKind kind) const {
        for (auto [link, end] = boost::edges(graph_); link != end; ++link)
            if (graph_[*link].kind == kind) return &graph_[*link];
        return nullptr;
    }

    static std::string pcie_text(const MachineLink& link) {
        PcieLink text{link.pcie_generation, link.pcie_width, {}};
        if (!same(link.plan_rate, link.wire_rate, pcie_rates(text.generation, text.width)))
            text.rate = link.wire_rate;
        return to_text(text);
    }

    // What hangs below a node of the PCIe tree: a device never has anything below it.
    std::vector<LinkId> links_down(NodeId node) const {
        std::vector<LinkId> down;
        for (auto [link, end] = boost::out_edges(node, graph_); link != end; ++link) {
            const NodeId child = boost::target(*link, graph_);
            if (graph_[*link].kind == LinkKind::pcie && child != parent(node)) down.push_back(*link);
        }
        return down;
    }

    // Switches hang from what was built nearer to the root: the neighbour from which a host bridge is
    // reached.
    NodeId parent(NodeId node) const {
        const auto found = parents_.find(node);
        return found == parents_.end() ? node : found->second;
    }

    void append_below(NodeId node, Json& out) const {
        for (const LinkId link : links_down(node)) append_device(node, link, out);
    }

    void append_device(NodeId from, LinkId link, Json& out) const {
        const NodeId child = boost::target(link, graph_);
        parents_[child] = from;
        const std::string text = pcie_text(graph_[link]);
        switch (graph_[child].kind) {
            case NodeKind::gpu:
                out["gpus"].push_back(gpu_json(child, text));
                break;
            case NodeKind::nic:
                out["nics"].push_back(nic_json(child, text));
                break;
            default: {
                Json below{{"name", graph_[child].name}};
                if (text != usual_pcie_) below["link"] = text;
                append_below(child, below);
                out["switches"].push_back(in_order(std::move(below)));
            }
        }
    }

    Json numa_json(NodeId numa) const {
        Json out{{"name", graph_[numa].name}};
        if (graph_[numa].memory_rate != usual_memory_rate())
            out["memory_rate"] = exact_text(graph_[numa].memory_rate);
        for (auto [link, end] = boost::out_edges(numa, graph_); link != end; ++link) {
            if (graph_[*link].kind != LinkKind::root) continue;
            const NodeId bridge = boost::target(*link, graph_);
            const std::vector<LinkId> below = links_down(bridge);
            if (below.size() == 1) {
                append_device(bridge, below.front(), out);
            } else if (!below.empty()) {
                Json devices = Json::object();
                append_below(bridge, devices);
                out["bridges"].push_back(in_order(std::move(devices)));
            }
        }
        return in_order(std::move(out));
    }

    BytesPerSecond usual_memory_rate() const {
        int generation = 0;
        for (auto [link, end] = boost::edges(graph_); link != end; ++link)
            generation = std::max(generation, graph_[*link].pcie_generation);
        return memory_rate(generation);
    }

    int index_of(NodeId gpu) const { return graph_[gpu].index; }

    Json gpu_json(NodeId node, const std::string& link) const {
        const MachineGpu& gpu = machine_.gpus[static_cast<std::size_t>(index_of(node))];
        Json out{{"index", index_of(node)}};
        const std::string kind = gpu.model ? gpu.model->name : "";
        if (kind != usual_gpu_) out["gpu"] = gpu.model ? Json(kind) : Json(nullptr);
        if (!gpu.busid.empty()) out["busid"] = gpu.busid;
        if (!gpu.affinity.empty()) out["affinity"] = gpu.affinity;
        if (link != usual_pcie_) out["link"] = link;
        return out.size() == 1 ? out["index"] : out;
    }

    Json nic_json(NodeId node, const std::string& link) const {
        const MachineNic& nic = machine_.nics[static_cast<std::size_t>(graph_[node].index)];
        Json out{{"name", nic.name}};
        if (nic.rate != usual_nic_) out["rate"] = exact_text(nic.rate);
        if (link != usual_pcie_) out["link"] = link;
        return out.size() == 1 ? out["name"] : out;
    }

    const GpuModel* model(NodeId gpu) const {
        return machine_.gpus[static_cast<std::size_t>(index_of(gpu))].model;
    }

    void add_rate(Json& entry, NodeId gpu, const MachineLink& link) const {
        if (!same(link.plan_rate, link.wire_rate, nvlink_rates(model(gpu), link.count)))
            entry["rate"] = exact_text(link.wire_rate);
    }

    static bool joins_gpus(const MachineLink& link) {
        return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
    }

    Json nvlink_json() const {
        Json out = Json::array();
        for (const NodeId hub : nodes_of(NodeKind::nvswitch)) append_switch(hub, out);
        for (const auto& [key, pairs] : bundles()) append_bundles(key, pairs, out);
        return out;
    }

    void append_switch(NodeId hub, Json& out) const {
        Json entry{{"switch", Json::array()}};
        std::vector<int> counts;
        for (auto [link, end] = boost::out_edges(hub, graph_); link != end; ++link) {
            const NodeId gpu = boost::target(*link, graph_);
            entry["switch"].push_back(index_of(gpu));
            counts.push_back(graph_[*link].count);
            entry["links"] = 0;
            add_rate(entry, gpu, graph_[*link]);
        }
        if (counts.empty()) return;
        const bool alike = std::count(counts.begin(), counts.end(), counts.front()) == std::ssize(counts);
        entry["links"] = alike ? Json(counts.front()) : Json(counts);
        out.push_back(std::move(entry));
    }

    struct Bundle {
        int count;
        std::string rate;  // empty: as the GPU gives
        auto operator<=>(const Bundle&) const = default;
    };
    using Pairs = std::vector<std::pair<int, int>>;

    std::map<Bundle, Pairs> bundles() const {
        std::map<Bundle, Pairs> all;
        for (const MachineGpu& gpu : machine_.gpus)
            for (auto [link, end] = boost::out_edges(gpu.node, graph_); link != end; ++link) {
                const NodeId peer = boost::target(*link, graph_);
                if (!joins_gpus(graph_[*link]) || graph_[peer].kind != NodeKind::gpu) continue;
                if (index_of(gpu.node) > index_of(peer)) continue;
                Json rate = Json::object();
                add_rate(rate, gpu.node, graph_[*link]);
                all[{graph_[*link].count, rate.value("rate", "")}].emplace_back(index_of(gpu.node),
                                                                                index_of(peer));
            }
        return all;
    }

    // Cliques first (every pair of the clique is in `pairs`), then what is left over pair by pair.
    static void append_bundles(const Bundle& bundle, Pairs pairs, Json& out) {
        const auto emit = [&](const char* key, const std::vector<int>& gpus) {
            Json entry{{key, gpus}, {"links", bundle.count}};
            if (!bundle.rate.empty()) entry["rate"] = bundle.rate;
            out.push_back(std::move(entry));
        };
        const auto joined = [&](int a, int b) {
            return std::find(pairs.begin(), pairs.end(), std::pair(std::min(a, b), std::max(a, b))) !=
                   pairs.end();
        };
        std::sort(pairs.begin(), pairs.end());
        while (!pairs.empty()) {
            std::vector<int> clique{pairs.front().first, pairs.front().second};
            for (const auto& [a, b] : Pairs(pairs))
                if (a == clique.front() && b != clique[1] &&
                    std::all_of(clique.begin(), clique.end(), [&](int member) { return joined(member, b); }))
                    clique.push_back(b);
            std::sort(clique.begin(), clique.end());
            emit(clique.size() > 2 ? "mesh" : "pair", clique);
            for (std::size_t a = 0; a < clique.size(); ++a)
                for (std::size_t b = a + 1; b < clique.size(); ++b)
                    std::erase(pairs, std::pair(clique[a], clique[b]));
        }
    }

    Json sockets_json() const {
        Json out = Json::array();
        const std::vector<NodeId> numas = nodes_of(NodeKind::numa);
        for (std::size_t a = 0; a < numas.size(); ++a)
            for (std::size_t b = a + 1; b < numas.size(); ++b) {
                const auto [link, found] = boost::edge(numas[a], numas[b], graph_);
                if (!found || same(graph_[link].plan_rate, graph_[link].wire_rate,
                                   socket_rates(machine_.cpu, newest_pcie_generation(graph_))))
                    continue;
                out.push_back({{"between", {a, b}}, {"rate", exact_text(graph_[link].wire_rate)}});
            }
        return out;
    }

    const Machine& machine_;
    const MachineGraph& graph_;
    std::string usual_pcie_, usual_gpu_;
    BytesPerSecond usual_nic_;
    mutable std::map<NodeId, NodeId> parents_;  // found on the way down
};

}  // namespace

Json to_json(const Machine& machine) { return Writer(machine).json(); }

std::string to_json_text(const Machine& machine) { return laid_out(to_json(machine)); }

}  // namespace wirewise
