// <nvlink>, <xgmi> and <c2c> of a topology XML.
#pragma once

#include <string>
#include <vector>

#include <pugixml.hpp>

#include "model/topology/builder.hpp"

namespace wirewise::xml {

struct Gpu {
    pugi::xml_node pci, element;  // element: <gpu>, empty where only the class tells
    std::string busid, name;
    const GpuModel* model = nullptr;
    NodeId node{}, numa_node{};
    int numa = 0;
    bool below_cpu = false;  // no PCIe switch above it
};

// NCCL's rule: links to GPUs of the file join them; links to CPUs are coherent links; all others (switches,
// seen, hidden or pointing at the GPU itself) go to one NVSwitch.
void add_links(MachineBuilder& builder, const std::vector<Gpu>& gpus, std::vector<std::string>& warnings);

}  // namespace wirewise::xml
