#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/topology/draw/draw.hpp"
#include "model/topology/draw/layout.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

using draw::Arc;
using draw::Box;
using draw::Hub;
using draw::Layout;
using draw::Panel;
using draw::TreeNode;

// Islands by colour, distinct for people with any kind of colour vision (after Okabe and Ito, 2008).
struct Hue {
    const char *strong, *pale;
};
constexpr std::array<Hue, 8> kHues{{{"#0072b2", "#e8f2f9"},
                                    {"#d55e00", "#fdf0e6"},
                                    {"#009e73", "#e6f6f1"},
                                    {"#7b4ea3", "#f2ecf8"},
                                    {"#b8860b", "#fbf5e0"},
                                    {"#c2457f", "#fbeaf2"},
                                    {"#4a7a8c", "#ebf3f5"},
                                    {"#6b6b00", "#f5f5e0"}}};
constexpr Hue kAlone{"#66717d", "#eef0f2"};
constexpr const char *kInk = "#1d2730", *kFaint = "#5b6670", *kWire = "#8794a0", *kNarrow = "#d11f2e";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most - 1;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no half of a letter
    return text.substr(0, end) + "…";
}

class SvgPainter {
  public:
    explicit SvgPainter(const Machine& machine) : machine_(machine), layout_(draw::lay_out(machine)) {}

    std::string paint() {
        begin();
        title();
        for (const Panel& panel : layout_.panels) paint_panel(panel);
        paint_tree();
        paint_sockets();
        for (const Hub& hub : layout_.hubs) paint_hub(hub);
        for (const Arc& arc : layout_.arcs) paint_arc(arc);
        paint_leaves();
        foot();
        return out_ + "</svg>\n";
    }

  private:
    void begin() {
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" "
            "font-family=\"system-ui, 'DejaVu Sans', sans-serif\" fill=\"{2}\">\n<title>{3}</title>\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            layout_.width, layout_.height, kInk, escaped(machine_.name));
    }

    void text(double x, double y, int size, std::string_view words, std::string_view anchor = "middle",
              std::string_view colour = kInk, bool bold = false) {
        out_ += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
            x, y, size, anchor, colour, bold ? " font-weight=\"600\"" : "", escaped(words));
    }

    void line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
        out_ += fmt::format(
            "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
            "stroke-linecap=\"round\" fill=\"none\"/>\n",
            x1, y1, x2, y2, colour, width);
    }

    void rectangle(const Box& box, double radius, std::string_view fill, std::string_view stroke = "none",
                   double width = 1) {
        out_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" "
            "stroke=\"{}\" stroke-width=\"{}\"/>\n",
            box.x, box.y, box.width, box.height, radius, fill, stroke, width);
    }

    const Hue& hue_of(int gpu) const {
        const int island = layout_.island_of[static_cast<std::size_t>(gpu)];
        return island < 0 ? kAlone : kHues[static_cast<std::size_t>(island) % kHues.size()];
    }

    std::string kinds() const {
        std::map<std::string, int> counts;
        for (const MachineGpu& gpu : machine_.gpus)
            ++counts[gpu.model ? gpu.model->name : "GPU of unknown kind"];
        std::vector<std::string> texts;
        for (const auto& [name, count] : counts) texts.push_back(fmt::format("{} × {}", count, name));
        return fmt::format("{}", fmt::join(texts, " + "));
    }

    // The PCIe facts stand to the right of the others, or above them where those need the line; the name gets
    // the room that is left.
    void title() {
        const std::string facts = facts_text(), pcie = pcie_text();
        constexpr double kLetter = 7, kTitleLetter = 12.5;
        const double pcie_width = kLetter * static_cast<double>(pcie.size());
        const bool crowded = 84 + kLetter * static_cast<double>(facts.size()) + pcie_width > layout_.width;
        const double room = layout_.width - 84 - (crowded ? pcie_width : 0);
        text(28, 36, 20, shortened(machine_.name, static_cast<std::size_t>(room / kTitleLetter)), "start",
             kInk, true);
        text(28, 58, 13, facts, "start", kFaint);
        text(layout_.width - 28, crowded ? 36 : 58, 13, pcie, "end", kFaint);
    }

    std::string facts_text() const {
        std::string facts = kinds();
        if (const auto sets = islands(machine_).size(); machine_.gpus.size() > 1)
            facts += fmt::format(" · {} island{}", sets, sets == 1 ? "" : "s");
        if (machine_.cpu != CpuKind::unknown) facts += fmt::format(" · {}", name_of(machine_.cpu));
        if (machine_.host_memory.count() > 0)
            facts += fmt::format(" · {} of host memory", to_text(machine_.host_memory));
        return facts;
    }

    void paint_panel(const Panel& panel) {
        const Hue& hue = hue_of(panel.gpus.front());
        if (panel.drawn) rectangle(panel.box, 12, hue.pale);
        // A title wider than its panel would run into the next one.
        const double room = panel.box.width / 6.6;
        const auto cut = panel.title.find(" · ");
        const bool whole = static_cast<double>(panel.title.size()) <= room;
        const std::string words =
            whole || cut == std::string::npos ? panel.title : panel.title.substr(cut + 4);
        text(panel.box.middle(), panel.title_y, 12, words, "middle", hue.strong, true);
    }

    // Thicker for faster: 1.5 at 10 GB/s, 3 at 50, 6 at 400.
    static double thickness(BytesPerSecond rate) {
        const double gigabytes = std::max(rate.value() / 1e9, 1.0);
        return std::clamp(1.5 * std::pow(gigabytes / 10, 0.4), 1.2, 8.0);
    }

    void paint_arc(const Arc& arc) {
        const Box &a = layout_.gpu_box(arc.a), &b = layout_.gpu_box(arc.b);
        const double distance = std::abs(a.middle() - b.middle()),
                     top = a.y - (20 + 5.2 * std::sqrt(distance)) * 4 / 3;
        out_ += fmt::format(
            "<path d=\"M{0:.1f} {2:.1f}C{0:.1f} {3:.1f} {1:.1f} {3:.1f} {1:.1f} {2:.1f}\" stroke=\"{4}\" "
            "stroke-width=\"{5:.1f}\" stroke-opacity=\"0.75\" fill=\"none\"><title>{6}</title></path>\n",
            a.middle(), b.middle(), a.y, top, hue_of(arc.a).strong, thickness(arc.rate),
            fmt::format("GPU{} - GPU{}: {} links, {}", arc.a, arc.b, arc.count, to_text(arc.rate)));
    }

    // A switch that joins several rows: its bars are one.
    void paint_rail(const Hub& hub, const Hue& hue) {
        const double x = layout_.width - kRail, y = hub.bar.y + hub.bar.height / 2;
        line(hub.bar.right(), y, x, y, hue.strong, 6);
        if (hub.continues) line(x, rail_from_, x, y, hue.strong, 6);
        rail_from_ = y;
    }

    void paint_hub(const Hub& hub) {
        const Hue& hue = hue_of(hub.spokes.front().a);
        for (const Arc& spoke : hub.spokes) {
            const Box& gpu = layout_.gpu_box(spoke.a);
            line(gpu.middle(), hub.bar.bottom(), gpu.middle(), gpu.y, hue.strong, thickness(spoke.rate));
        }
        if (layout_.rows.size() > 1) paint_rail(hub, hue);
        rectangle(hub.bar, 7, hue.strong);
        text(hub.bar.middle(), hub.bar.y + 18, 13, "NVSwitch", "middle", "#ffffff", true);
    }

    bool narrow(int index) const {
        const auto& links = layout_.bottleneck.links;
        return std::find(links.begin(), links.end(), index) != links.end();
    }

    // Every node is joined straight down to the bar or box above it in the tree.
    void paint_tree() {
        for (std::size_t i = 0; i < layout_.tree.nodes.size(); ++i) {
            const TreeNode& node = layout_.tree.nodes[i];
            if (node.parent < 0) continue;
            const Box &box = layout_.boxes[i], &up = layout_.boxes[static_cast<std::size_t>(node.parent)];
            const bool red = narrow(static_cast<int>(i));
            line(box.middle(), box.bottom(), box.middle(), up.y, red ? kNarrow : kWire,
                 node.rate.value() > 0 ? thickness(node.rate) : 2);
        }
        paint_coherent();
        for (std::size_t i = 0; i < layout_.tree.nodes.size(); ++i)
            paint_inner(layout_.tree.nodes[i], layout_.boxes[i]);
    }

    double numa_y_of(int gpu) const {
        int node = layout_.tree.leaf_of_gpu(gpu);
        while (layout_.tree.nodes[static_cast<std::size_t>(node)].parent >= 0)
            node = layout_.tree.nodes[static_cast<std::size_t>(node)].parent;
        return layout_.boxes[static_cast<std::size_t>(node)].y;
    }

    // NVLink-C2C beside the PCIe link, GPU to its CPU.
    void paint_coherent() {
        for (std::size_t gpu = 0; gpu < machine_.gpus.size(); ++gpu)
            for (auto [link, end] = boost::out_edges(machine_.gpus[gpu].node, machine_.graph); link != end;
                 ++link) {
                if (machine_.graph[*link].kind != LinkKind::c2c) continue;
                const Box& box = layout_.gpu_box(static_cast<int>(gpu));
                const double x = box.middle() + 18;
                const double numa_y = numa_y_of(static_cast<int>(gpu));
                line(x, box.bottom(), x, numa_y, "#7b4ea3", thickness(machine_.graph[*link].wire_rate));
                text(x + 6, numa_y - 10, 10, "C2C", "start", "#7b4ea3");
            }
    }

    void paint_inner(const TreeNode& node, const Box& box) {
        if (node.kind == NodeKind::numa) {
            rectangle(box, 8, "#26323c");
            const std::string& name = machine_.graph[node.node].name;
            text(box.middle(), box.y + 25, 14, name, "middle", "#ffffff", true);
        } else if (node.kind == NodeKind::pcie_switch || node.kind == NodeKind::host_bridge) {
            const bool bridge = node.kind == NodeKind::host_bridge;
            rectangle(box, 5, bridge ? "#cfd6dc" : "#aeb9c2", bridge ? "#8794a0" : "none");
            if (box.width > 74) text(box.middle(), box.y + 12, 10, bridge ? "host bridge" : "PCIe switch");
        }
    }

    void paint_nic(const TreeNode& node, const Box& box) {
        const Box inner{box.x, box.y + 8, box.width, box.height - 8};
        rectangle(inner, 6, "#ffffff", kWire, 1.5);
        const std::string name = node.names.size() == 1 ? shortened(node.names.front(), 9)
                                                        : fmt::format("{} NICs", node.names.size());
        const double gigabits = node.nic_rate.value() * 8 / 1e9;
        text(box.middle(), inner.y + (gigabits > 0 ? 18 : 25), 11, name);
        if (gigabits > 0)
            text(box.middle(), inner.y + 33, 10, fmt::format("{:.4g} Gb/s", gigabits), "middle", kFaint);
    }

    void paint_leaves() {
        for (std::size_t i = 0; i < layout_.tree.nodes.size(); ++i) {
            const TreeNode& node = layout_.tree.nodes[i];
            const Box& box = layout_.boxes[i];
            if (node.kind == NodeKind::gpu) {
                rectangle(box, 8, hue_of(node.gpu).strong, "#ffffff", 2);
                text(box.middle(), box.y + 31, 15, fmt::format("GPU{}", node.gpu), "middle", "#ffffff", true);
            } else if (node.kind == NodeKind::nic) {
                paint_nic(node, box);
            }
        }
    }

    std::optional<BytesPerSecond> socket(std::size_t a, std::size_t b) const {
        const auto node = [&](std::size_t i) {
            return layout_.tree.nodes[static_cast<std::size_t>(layout_.tree.roots[i])].node;
        };
        const auto [link, found] = boost::edge(node(a), node(b), machine_.graph);
        return found ? std::optional(machine_.graph[link].wire_rate) : std::nullopt;
    }

    // Two NUMA nodes: a line between them; more: a bar below all, which stands for a link between any two.
    void paint_sockets() {
        const auto& roots = layout_.tree.roots;
        if (roots.size() < 2) return;
        const auto rate = socket(0, 1);
        if (!rate) return;
        const std::string_view colour = layout_.bottleneck.socket ? kNarrow : kWire;
        const double y = layout_.numa_y + 20;
        if (roots.size() == 2) {
            const Box &a = layout_.boxes[static_cast<std::size_t>(roots[0])],
                      &b = layout_.boxes[static_cast<std::size_t>(roots[1])];
            line(a.right(), y, b.x, y, colour, thickness(*rate) + 1);
            text((a.right() + b.x) / 2, layout_.numa_y + 56, 12, to_text(*rate), "middle",
                 layout_.bottleneck.socket ? kNarrow : kFaint, layout_.bottleneck.socket);
            return;
        }
        for (const std::vector<int>& row : layout_.rows) paint_socket_bar(row, *rate, colour);
        if (layout_.rows.size() > 1)
            line(kRail, bar_of(layout_.rows.front()), kRail, bar_of(layout_.rows.back()), colour,
                 thickness(*rate) + 1);
    }

    static constexpr double kRail = 12;  // joins the rows of a folded picture, left and right of them

    double bar_of(const std::vector<int>& row) const {
        return layout_.boxes[static_cast<std::size_t>(row.front())].y + 64;
    }

    void paint_socket_bar(const std::vector<int>& row, BytesPerSecond rate, std::string_view colour) {
        const double bar = bar_of(row);
        double begin = layout_.rows.size() > 1 ? kRail : 1e9, end = 0;
        for (const int root : row) {
            const Box& box = layout_.boxes[static_cast<std::size_t>(root)];
            line(box.middle(), box.bottom(), box.middle(), bar, colour, thickness(rate));
            begin = std::min(begin, box.middle()), end = std::max(end, box.middle());
        }
        line(begin, bar, end, bar, colour, thickness(rate) + 1);
        if (row == layout_.rows.back())
            text((begin + end) / 2, bar + 18, 12, fmt::format("between any two NUMA nodes {}", to_text(rate)),
                 "middle", layout_.bottleneck.socket ? kNarrow : kFaint);
    }

    bool every_pair_joined() const {
        for (int a = 0; a < machine_.gpus_per_server(); ++a)
            for (int b = 0; b < a; ++b)
                if (nvlink_count(machine_, a, b) == 0) return false;
        return true;
    }

    // "GPUs on PCIe gen5 x16, 53 GB/s" where that holds for all of them.
    std::string pcie_text() const {
        std::string common;
        for (const TreeNode& node : layout_.tree.nodes) {
            if (node.kind != NodeKind::gpu || node.link.empty()) continue;
            std::string words = fmt::format("GPU on PCIe {}, {}", node.link, to_text(node.rate));
            if (!common.empty() && common != words) return "GPUs on PCIe links of several kinds";
            common = std::move(words);
        }
        return common;
    }

    void foot() {
        const double y = layout_.height - 16;
        if (layout_.bottleneck.found) {
            line(28, y - 4, 52, y - 4, kNarrow, 4);
            text(60, y, 13, "narrowest between islands: " + layout_.bottleneck.text, "start", kNarrow, true);
        } else if (machine_.gpus.size() > 1) {
            const bool all = every_pair_joined();
            text(28, y, 13,
                 all ? "every two GPUs are joined directly or by a switch"
                     : "GPUs without a line between them pass through another GPU or the host",
                 "start", kFaint);
        }
    }

    const Machine& machine_;
    Layout layout_;
    std::string out_;
    double rail_from_ = 0;
};

}  // namespace

std::string to_svg(const Machine& machine) { return SvgPainter(machine).paint(); }

}  // namespace wirewise
