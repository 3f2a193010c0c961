// The PCIe tree of a machine as a person would draw it: NUMA nodes at the root, GPUs and NICs as leaves. Host
// bridges with a single device below are left out, NICs that hang from one place and are alike become one
// leaf.
#pragma once

#include <string>
#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise::draw {

struct TreeNode {
    NodeKind kind = NodeKind::gpu;
    NodeId node{};
    int gpu = -1;                    // index, of a GPU
    std::vector<std::string> names;  // of a NIC leaf: the NICs in it
    BytesPerSecond nic_rate;
    BytesPerSecond rate;  // of the link upwards, at wire rate; 0 at the root
    std::string link;     // "gen5 x16"
    int parent = -1;
    std::vector<int> children;
};

struct Tree {
    std::vector<TreeNode> nodes;
    std::vector<int> roots;  // NUMA nodes, by their first GPU

    int leaf_of_gpu(int gpu) const;
};

Tree tree_of(const Machine& machine);

// The narrowest link between GPUs of different islands.
struct Bottleneck {
    bool found = false, socket = false;
    BytesPerSecond rate;
    std::vector<int> links;  // tree nodes whose link upwards is that narrow; empty for a socket link
    std::string text;        // for people
};
Bottleneck bottleneck_of(const Machine& machine, const Tree& tree);

}  // namespace wirewise::draw
