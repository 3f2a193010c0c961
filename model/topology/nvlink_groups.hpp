// NVLink counts between pairs -> bundles, or an NVSwitch where the counts can only be one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/topology/builder.hpp"

namespace wirewise {

struct NvlinkEnd {
    NodeId node{};
    const GpuModel* model = nullptr;
    std::string name;
};

// `count(a, b)`: NV# of the pair, 0 for none. Links that seem to be down are told in `warnings`.
void add_nvlink_groups(MachineBuilder& builder, const std::vector<NvlinkEnd>& ends,
                       const std::function<int(std::size_t, std::size_t)>& count,
                       std::vector<std::string>& warnings);

}  // namespace wirewise
