#include "model/topology/draw/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/units/text.hpp"

namespace wirewise::draw {
namespace {

class Planter {
  public:
    explicit Planter(const Machine& machine) : machine_(machine), graph_(machine.graph) {}

    Tree tree() {
        for (auto [node, end] = boost::vertices(graph_); node != end; ++node)
            if (graph_[*node].kind == NodeKind::numa) tree_.roots.push_back(plant_numa(*node));
        adopt_orphans();
        for (const int root : tree_.roots) sort_children(root);
        std::stable_sort(tree_.roots.begin(), tree_.roots.end(),
                         [&](int a, int b) { return first_gpu(a) < first_gpu(b); });
        return std::move(tree_);
    }

  private:
    // A GPU that no PCIe link joins to the host is drawn all the same.
    void adopt_orphans() {
        for (std::size_t gpu = 0; gpu < machine_.gpus.size(); ++gpu) {
            if (tree_.leaf_of_gpu(static_cast<int>(gpu)) >= 0) continue;
            if (tree_.roots.empty()) tree_.roots.push_back(add(numa_root(machine_.gpus[gpu].node), -1));
            TreeNode leaf;
            leaf.node = machine_.gpus[gpu].node;
            leaf.gpu = static_cast<int>(gpu);
            add(std::move(leaf), tree_.roots.front());
        }
    }

    int add(TreeNode node, int parent) {
        const int index = static_cast<int>(tree_.nodes.size());
        node.parent = parent;
        tree_.nodes.push_back(std::move(node));
        if (parent >= 0) tree_.nodes[static_cast<std::size_t>(parent)].children.push_back(index);
        return index;
    }

    static TreeNode numa_root(NodeId node) {
        TreeNode root;
        root.kind = NodeKind::numa;
        root.node = node;
        return root;
    }

    int plant_numa(NodeId numa) {
        const int index = add(numa_root(numa), -1);
        for (auto [link, end] = boost::out_edges(numa, graph_); link != end; ++link)
            if (graph_[*link].kind == LinkKind::root) plant_bridge(boost::target(*link, graph_), index);
        return index;
    }

    void plant_bridge(NodeId bridge, int numa) {
        const std::vector<LinkId> below = links_below(bridge, bridge);
        int parent = numa;
        if (below.size() > 1) {
            TreeNode root;
            root.kind = NodeKind::host_bridge;
            root.node = bridge;
            parent = add(std::move(root), numa);
        }
        plant_below(bridge, bridge, parent);
    }

    std::vector<LinkId> links_below(NodeId node, NodeId above) const {
        std::vector<LinkId> links;
        for (auto [link, end] = boost::out_edges(node, graph_); link != end; ++link)
            if (graph_[*link].kind == LinkKind::pcie && boost::target(*link, graph_) != above)
                links.push_back(*link);
        return links;
    }

    void plant_below(NodeId node, NodeId above, int parent) {
        for (const LinkId link : links_below(node, above)) {
            const NodeId child = boost::target(link, graph_);
            TreeNode leaf;
            leaf.kind = graph_[child].kind;
            leaf.node = child;
            leaf.rate = graph_[link].wire_rate;
            leaf.link = fmt::format("gen{} x{}", graph_[link].pcie_generation, graph_[link].pcie_width);
            if (leaf.kind == NodeKind::nic) {
                add_nic(std::move(leaf), parent);
            } else {
                if (leaf.kind == NodeKind::gpu) leaf.gpu = graph_[child].index;
                const int index = add(std::move(leaf), parent);
                if (graph_[child].kind == NodeKind::pcie_switch) plant_below(child, node, index);
            }
        }
    }

    void add_nic(TreeNode leaf, int parent) {
        const MachineNic& nic = machine_.nics[static_cast<std::size_t>(graph_[leaf.node].index)];
        for (const int sibling : tree_.nodes[static_cast<std::size_t>(parent)].children) {
            TreeNode& other = tree_.nodes[static_cast<std::size_t>(sibling)];
            if (other.kind == NodeKind::nic && other.nic_rate == nic.rate && other.link == leaf.link)
                return other.names.push_back(nic.name);
        }
        leaf.names = {nic.name};
        leaf.nic_rate = nic.rate;
        add(std::move(leaf), parent);
    }

    int first_gpu(int index) const {
        const TreeNode& node = tree_.nodes[static_cast<std::size_t>(index)];
        int first = node.gpu >= 0 ? node.gpu : std::numeric_limits<int>::max();
        for (const int child : node.children) first = std::min(first, first_gpu(child));
        return first;
    }

    void sort_children(int index) {
        std::vector<int> children = tree_.nodes[static_cast<std::size_t>(index)].children;
        std::stable_sort(children.begin(), children.end(),
                         [&](int a, int b) { return first_gpu(a) < first_gpu(b); });
        for (const int child : children) sort_children(child);
        tree_.nodes[static_cast<std::size_t>(index)].children = std::move(children);
    }

    const Machine& machine_;
    const MachineGraph& graph_;
    Tree tree_;
};

// The tree nodes from a leaf to its NUMA node, the leaf first.
std::vector<int> way_up(const Tree& tree, int leaf) {
    std::vector<int> way;
    for (int at = leaf; at >= 0; at = tree.nodes[static_cast<std::size_t>(at)].parent) way.push_back(at);
    return way;
}

std::optional<BytesPerSecond> socket_rate(const Machine& machine, NodeId a, NodeId b) {
    const auto [link, found] = boost::edge(a, b, machine.graph);
    if (!found || machine.graph[link].kind != LinkKind::socket) return std::nullopt;
    return machine.graph[link].wire_rate;
}

class Search {
  public:
    Search(const Machine& machine, const Tree& tree) : machine_(machine), tree_(tree) {}

    void between(int gpu_a, int gpu_b) {
        std::vector<int> a = way_up(tree_, tree_.leaf_of_gpu(gpu_a)),
                         b = way_up(tree_, tree_.leaf_of_gpu(gpu_b));
        if (a.empty() || b.empty()) return;
        if (a.back() != b.back()) {
            if (const auto rate = socket_rate(machine_, node(a.back()).node, node(b.back()).node))
                meet(*rate, -1);
        }
        while (!a.empty() && !b.empty() && a.back() == b.back()) a.pop_back(), b.pop_back();
        for (const auto* way : {&a, &b})
            for (const int link : *way)
                if (node(link).rate.value() > 0) meet(node(link).rate, link);
    }

    Bottleneck result() && {
        if (!best_.found) return best_;
        if (best_.socket) {
            best_.text = fmt::format("link between NUMA nodes, {}", to_text(best_.rate));
        } else {
            const TreeNode& first = node(best_.links.front());
            best_.text = fmt::format("PCIe {}, {}", first.link, to_text(best_.rate));
        }
        return best_;
    }

  private:
    const TreeNode& node(int index) const { return tree_.nodes[static_cast<std::size_t>(index)]; }

    void meet(BytesPerSecond rate, int link) {
        if (best_.found && rate > best_.rate) return;
        if (!best_.found || rate < best_.rate) best_ = {true, false, rate, {}, {}};
        if (link < 0)
            best_.socket = true;
        else if (std::find(best_.links.begin(), best_.links.end(), link) == best_.links.end())
            best_.links.push_back(link);
    }

    const Machine& machine_;
    const Tree& tree_;
    Bottleneck best_;
};

}  // namespace

int Tree::leaf_of_gpu(int gpu) const {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].gpu == gpu) return static_cast<int>(i);
    return -1;
}

Tree tree_of(const Machine& machine) { return Planter(machine).tree(); }

Bottleneck bottleneck_of(const Machine& machine, const Tree& tree) {
    Search search(machine, tree);
    const std::vector<std::vector<int>> sets = islands(machine);
    for (std::size_t i = 0; i < sets.size(); ++i)
        for (std::size_t j = i + 1; j < sets.size(); ++j)
            for (const int a : sets[i])
                for (const int b : sets[j]) search.between(a, b);
    return std::move(search).result();
}

}  // namespace wirewise::draw
