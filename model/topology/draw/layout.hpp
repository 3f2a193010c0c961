// Where everything stands in the picture: a column per leaf, NVLinks above the GPUs, the PCIe tree below.
#pragma once

#include <string>
#include <vector>

#include "model/topology/draw/tree.hpp"

namespace wirewise::draw {

// Around the picture, and above it for its title.
constexpr double kMargin = 28, kHead = 84;

struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    double middle() const { return x + width / 2; }
    double bottom() const { return y + height; }
    double right() const { return x + width; }
};

// A bundle of NVLinks between two GPUs, or from a GPU to a switch.
struct Arc {
    int a = -1, b = -1;  // GPUs
    int count = 0;
    BytesPerSecond rate;
};
struct Hub {
    std::vector<Arc> spokes;  // b is unused
    Box bar;
    bool continues = false;  // a switch of the row above, drawn once more
};
struct Panel {
    Box box;
    std::vector<int> gpus;
    std::string title;
    double title_y = 0;
    bool drawn = false;  // a panel is drawn where no other island's GPU stands in between
};

struct Layout {
    Tree tree;
    std::vector<Box> boxes;  // by tree node
    std::vector<Hub> hubs;
    std::vector<Arc> arcs;
    std::vector<Panel> panels;   // islands of two GPUs and more
    std::vector<int> island_of;  // by GPU: index into panels, -1 for a lone GPU
    Bottleneck bottleneck;
    std::vector<std::vector<int>> rows;  // of roots
    double width = 0, height = 0, numa_y = 0;

    const Box& gpu_box(int gpu) const { return boxes[static_cast<std::size_t>(tree.leaf_of_gpu(gpu))]; }
};

Layout lay_out(const Machine& machine);

}  // namespace wirewise::draw
