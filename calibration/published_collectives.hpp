// Published collective runs as ../shared/published keeps them: what machine, job and environment a row's
// words mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/units/collective.hpp"

namespace wirewise {

// The two reasons why a row was never one of those that count: all others are rows set aside.
inline constexpr std::string_view kNotUsable = "marked as not usable";
inline constexpr std::string_view kNoWiring = "the GPU or its wiring is not stated";

struct PublishedCollective {
    std::string id, source;
    std::string set_aside;  // why the row says nothing about wiring; empty: it counts
    std::string box;        // rows of one box and source share this
    // A built-in name, our JSON itself, or a topology file with `gpu` for the kind that it does not name.
    std::string machine;
    std::string gpu;
    bool pcie_peers = false;  // a driver patched to allow them
    int nodes = 1;
    std::string fabric;
    bool fabric_nics = false;  // the row says its NICs: the fabric's count, not the machine's usual ones
    std::vector<int> gpus;     // per node
    std::vector<std::string> nccl_env;
    CollectiveKind op = CollectiveKind::all_reduce;
    Bytes bytes;
    BytesPerSecond busbw;
};

// One JSON object per line. Rows are read by what they say of hardware, wiring, software and size; no rule
// looks at the measured value. Throws InputError naming file and line.
std::vector<PublishedCollective> read_published_collectives(const std::string& file);

}  // namespace wirewise
