#include "model/topology/draw/fold.hpp"

#include <algorithm>

namespace wirewise::draw {
namespace {

constexpr int kMostInRow = 16;
constexpr double kBelowNuma = 130;  // the bar between NUMA nodes, and a gap to the next row

class Folder {
  public:
    explicit Folder(Layout& layout) : layout_(layout) {}

    void fold() {
        cut_rows();
        if (layout_.rows.size() < 2 || links_cross()) {
            layout_.rows = {layout_.tree.roots};
            return;
        }
        height_ = layout_.numa_y + kBelowNuma - kHead;
        move_boxes();
        split_hubs();
        split_panels();
        layout_.height += height_ * static_cast<double>(layout_.rows.size() - 1);
    }

  private:
    std::size_t index(int value) const { return static_cast<std::size_t>(value); }
    int root_of(int node) const {
        while (layout_.tree.nodes[index(node)].parent >= 0) node = layout_.tree.nodes[index(node)].parent;
        return node;
    }

    void cut_rows() {
        std::vector<int> gpus(layout_.tree.nodes.size(), 0);
        for (std::size_t i = 0; i < layout_.tree.nodes.size(); ++i)
            gpus[index(root_of(static_cast<int>(i)))] += layout_.tree.nodes[i].kind == NodeKind::gpu;
        int in_row = 0;
        layout_.rows.assign(1, {});
        for (const int root : layout_.tree.roots) {
            if (in_row > 0 && in_row + gpus[index(root)] > kMostInRow)
                layout_.rows.emplace_back(), in_row = 0;
            layout_.rows.back().push_back(root);
            in_row += gpus[index(root)];
        }
        row_.assign(layout_.tree.nodes.size(), 0);
        for (std::size_t row = 0; row < layout_.rows.size(); ++row)
            for (const int root : layout_.rows[row]) row_[index(root)] = row;
        for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = row_[index(root_of(static_cast<int>(i)))];
    }

    std::size_t row_of_gpu(int gpu) const { return row_[index(layout_.tree.leaf_of_gpu(gpu))]; }

    bool links_cross() const {
        return std::any_of(layout_.arcs.begin(), layout_.arcs.end(),
                           [&](const Arc& arc) { return row_of_gpu(arc.a) != row_of_gpu(arc.b); });
    }

    double down(std::size_t row) const { return height_ * static_cast<double>(row); }

    void move_boxes() {
        std::vector<double> left;
        for (const std::vector<int>& row : layout_.rows)
            left.push_back(layout_.boxes[index(row.front())].x - kMargin);
        double right = 0;
        for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
            layout_.boxes[i].x -= left[row_[i]];
            layout_.boxes[i].y += down(row_[i]);
            right = std::max(right, layout_.boxes[i].right());
        }
        layout_.width = right + kMargin;
    }

    // From the first to the last of these GPUs.
    Box over(const std::vector<int>& gpus, Box box, double beyond) const {
        double begin = 1e9, end = 0;
        for (const int gpu : gpus) {
            begin = std::min(begin, layout_.gpu_box(gpu).x);
            end = std::max(end, layout_.gpu_box(gpu).right());
        }
        return {begin - beyond, box.y + down(row_of_gpu(gpus.front())), end - begin + 2 * beyond, box.height};
    }

    void split_hubs() {
        std::vector<Hub> hubs;
        for (const Hub& hub : layout_.hubs) {
            bool begun = false;
            for (std::size_t row = 0; row < layout_.rows.size(); ++row) {
                Hub part;
                std::vector<int> gpus;
                for (const Arc& spoke : hub.spokes)
                    if (row_of_gpu(spoke.a) == row) part.spokes.push_back(spoke), gpus.push_back(spoke.a);
                if (gpus.empty()) continue;
                part.bar = over(gpus, hub.bar, 0);
                part.continues = begun;
                begun = true;
                hubs.push_back(std::move(part));
            }
        }
        layout_.hubs = std::move(hubs);
    }

    void split_panels() {
        std::vector<Panel> panels;
        for (const Panel& panel : layout_.panels)
            for (std::size_t row = 0; row < layout_.rows.size(); ++row) {
                Panel part = panel;
                std::erase_if(part.gpus, [&](int gpu) { return row_of_gpu(gpu) != row; });
                if (part.gpus.empty()) continue;
                part.box = over(part.gpus, panel.box, 6);
                part.title_y += down(row);
                panels.push_back(std::move(part));
            }
        layout_.panels = std::move(panels);
    }

    Layout& layout_;
    double height_ = 0;             // of a row
    std::vector<std::size_t> row_;  // by tree node
};

}  // namespace

void fold(Layout& layout) { Folder(layout).fold(); }

}  // namespace wirewise::draw
