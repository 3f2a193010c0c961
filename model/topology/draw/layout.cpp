#include "model/topology/draw/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/topology/draw/fold.hpp"
#include "model/units/text.hpp"

namespace wirewise::draw {
namespace {

constexpr double kGpuWidth = 72, kGpuHeight = 50, kNicWidth = 66, kGap = 14, kNumaGap = 56;
constexpr double kLevel = 46, kNumaHeight = 40, kIslandTitle = 26, kHubHeight = 26;
constexpr double kFoot = 54, kLeastWidth = 620;

class LayoutMaker {
  public:
    explicit LayoutMaker(const Machine& machine) : machine_(machine), graph_(machine.graph) {
        out_.tree = tree_of(machine);
        out_.boxes.resize(out_.tree.nodes.size());
        out_.bottleneck = bottleneck_of(machine, out_.tree);
    }

    Layout layout() {
        find_links();
        place_columns();
        const double above = height_of_links();
        gpu_y_ = kHead + kIslandTitle + above;
        place_rows();
        place_hubs();
        place_panels();
        out_.height = out_.numa_y + kNumaHeight + kFoot + (out_.tree.roots.size() > 2 ? 40 : 0);
        fold(out_);
        return std::move(out_);
    }

  private:
    TreeNode& node(int index) { return out_.tree.nodes[static_cast<std::size_t>(index)]; }
    Box& box(int index) { return out_.boxes[static_cast<std::size_t>(index)]; }

    void find_links() {
        for (auto [vertex, end] = boost::vertices(graph_); vertex != end; ++vertex)
            if (graph_[*vertex].kind == NodeKind::nvswitch) add_hub(*vertex);
        for (const MachineGpu& gpu : machine_.gpus)
            for (auto [link, end] = boost::out_edges(gpu.node, graph_); link != end; ++link) {
                const NodeId peer = boost::target(*link, graph_);
                const int a = graph_[gpu.node].index, b = graph_[peer].index;
                if (graph_[peer].kind == NodeKind::gpu && a < b)
                    out_.arcs.push_back({a, b, graph_[*link].count, graph_[*link].wire_rate});
            }
        for (const std::vector<int>& island : islands(machine_)) add_panel(island);
    }

    void add_hub(NodeId hub) {
        Hub out;
        for (auto [link, end] = boost::out_edges(hub, graph_); link != end; ++link)
            out.spokes.push_back({graph_[boost::target(*link, graph_)].index, -1, graph_[*link].count,
                                  graph_[*link].wire_rate});
        if (!out.spokes.empty()) out_.hubs.push_back(std::move(out));
    }

    void add_panel(const std::vector<int>& island) {
        out_.island_of.resize(machine_.gpus.size(), -1);
        if (island.size() < 2) return;
        Panel panel;
        panel.gpus = island;
        panel.title = title_of(island);
        for (const int gpu : island)
            out_.island_of[static_cast<std::size_t>(gpu)] = static_cast<int>(out_.panels.size());
        out_.panels.push_back(std::move(panel));
    }

    // "NV6 between any two, 124 GB/s", "NV18 through NVSwitch, 371 GB/s", "NV1 to NV2, 22 to 44 GB/s".
    std::string title_of(const std::vector<int>& island) const {
        int least = std::numeric_limits<int>::max(), most = 0;
        BytesPerSecond low(1e18), high;
        std::size_t pairs = 0;
        for (const int a : island)
            for (const int b : island) {
                const int count = a < b ? nvlink_count(machine_, a, b) : 0;
                if (count == 0) continue;
                const BytesPerSecond rate = path_rate(machine_, machine_.gpu(a).node, machine_.gpu(b).node);
                least = std::min(least, count), most = std::max(most, count);
                low = std::min(low, rate), high = std::max(high, rate);
                ++pairs;
            }
        const GpuModel* model = machine_.gpu(island.front()).model;
        const std::string_view stem = model && model->vendor == "amd" ? "xGMI x" : "NV";
        const std::string counts = least == most ? fmt::format("{}{}", stem, most)
                                                 : fmt::format("{0}{1} to {0}{2}", stem, least, most);
        const std::string rates =
            low == high ? to_text(high) : fmt::format("{} to {}", to_text(low), to_text(high));
        const bool full = pairs == island.size() * (island.size() - 1) / 2;
        const std::string_view how = !out_.hubs.empty()  ? "through NVSwitch"
                                     : !full             ? "where drawn"
                                     : island.size() > 2 ? "between any two"
                                                         : "";
        return fmt::format("{}{}{} · {}", counts, how.empty() ? "" : " ", how, rates);
    }

    void place_columns() {
        double x = kMargin;
        for (const int root : out_.tree.roots) {
            const double begin = x;
            x = place_leaves(root, x);
            if (x == begin) x += kNicWidth + kGap;  // a NUMA node without devices
            box(root).x = begin;
            box(root).width = x - kGap - begin;
            x += kNumaGap - kGap;
        }
        out_.width = std::max(x - kNumaGap + kMargin, kLeastWidth);
        centre(out_.width - (x - kNumaGap + kMargin));
    }

    void centre(double spare) {
        if (spare <= 0) return;
        for (Box& any : out_.boxes) any.x += spare / 2;
    }

    double place_leaves(int index, double x) {
        const std::vector<int> children = node(index).children;
        if (children.empty() && node(index).kind != NodeKind::numa) {
            box(index).x = x;
            box(index).width = node(index).kind == NodeKind::gpu ? kGpuWidth : kNicWidth;
            return box(index).right() + kGap;
        }
        for (const int child : children) x = place_leaves(child, x);
        if (children.empty()) return x;
        // A switch is a bar from its first to its last child.
        const double begin = box(children.front()).middle(), end = box(children.back()).middle();
        box(index).x = begin - 16;
        box(index).width = end - begin + 32;
        return x;
    }

    // How far the NVLinks rise above the GPUs.
    double height_of_links() const {
        double height = 0;
        for (const Arc& arc : out_.arcs) height = std::max(height, rise(arc));
        return std::max(height, static_cast<double>(out_.hubs.size()) * (kHubHeight + 34.0));
    }

    double rise(const Arc& arc) const {
        const double distance = std::abs(out_.gpu_box(arc.a).middle() - out_.gpu_box(arc.b).middle());
        return 20 + 5.2 * std::sqrt(distance);
    }

    int level_of(int index) {
        int level = 0;
        for (const int child : node(index).children) level = std::max(level, 1 + level_of(child));
        return level;
    }

    void place_rows() {
        int deepest = 1;
        for (const int root : out_.tree.roots) deepest = std::max(deepest, level_of(root));
        const double below = gpu_y_ + kGpuHeight;
        for (std::size_t i = 0; i < out_.boxes.size(); ++i) {
            const int index = static_cast<int>(i);
            const NodeKind kind = node(index).kind;
            const bool leaf = kind == NodeKind::gpu || kind == NodeKind::nic;
            box(index).y = leaf ? gpu_y_ : below + kLevel * level_of(index) - 8;
            box(index).height = leaf ? kGpuHeight : 16;
        }
        out_.numa_y = below + kLevel * deepest + 6;
        for (const int root : out_.tree.roots) box(root).y = out_.numa_y, box(root).height = kNumaHeight;
    }

    void place_hubs() {
        for (std::size_t i = 0; i < out_.hubs.size(); ++i) {
            Hub& hub = out_.hubs[i];
            double begin = 1e9, end = 0;
            for (const Arc& spoke : hub.spokes) {
                begin = std::min(begin, out_.gpu_box(spoke.a).x);
                end = std::max(end, out_.gpu_box(spoke.a).right());
            }
            hub.bar = {begin, gpu_y_ - (kHubHeight + 34) * static_cast<double>(i + 1), end - begin,
                       kHubHeight};
        }
    }

    void place_panels() {
        for (Panel& panel : out_.panels) {
            double begin = 1e9, end = 0;
            for (const int gpu : panel.gpus) {
                begin = std::min(begin, out_.gpu_box(gpu).x);
                end = std::max(end, out_.gpu_box(gpu).right());
            }
            panel.box = {begin - 6, kHead, end - begin + 12, gpu_y_ + kGpuHeight + 8 - kHead};
            panel.title_y = kHead + 18;
        }
        for (Panel& panel : out_.panels) {
            panel.drawn = !crossed(panel);
            if (!panel.drawn) panel.title_y = apex(panel) - 7;
        }
    }

    // Another island's GPU stands between this island's, or the other way round.
    bool crossed(const Panel& panel) const {
        for (std::size_t gpu = 0; gpu < machine_.gpus.size(); ++gpu) {
            const double middle = out_.gpu_box(static_cast<int>(gpu)).middle();
            const bool ours = std::count(panel.gpus.begin(), panel.gpus.end(), static_cast<int>(gpu)) > 0;
            if (!ours && middle > panel.box.x && middle < panel.box.right()) return true;
        }
        return std::any_of(out_.panels.begin(), out_.panels.end(), [&](const Panel& other) {
            return &other != &panel && other.box.x < panel.box.x && other.box.right() > panel.box.right();
        });
    }

    // The top of the island's highest arc.
    double apex(const Panel& panel) const {
        double top = gpu_y_;
        for (const Arc& arc : out_.arcs)
            if (arc.a == panel.gpus.front() || std::count(panel.gpus.begin(), panel.gpus.end(), arc.a) > 0)
                top = std::min(top, gpu_y_ - rise(arc));
        return top;
    }

    const Machine& machine_;
    const MachineGraph& graph_;
    Layout out_;
    double gpu_y_ = 0;
};

}  // namespace

Layout lay_out(const Machine& machine) { return LayoutMaker(machine).layout(); }

}  // namespace wirewise::draw
