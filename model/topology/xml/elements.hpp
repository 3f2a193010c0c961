// What the elements of a topology XML mean, as NCCL reads them (src/graph/topo.cc, xml.cc).
#pragma once

#include <optional>
#include <string>

#include <pugixml.hpp>

#include "model/topology/machine.hpp"

namespace wirewise::xml {

enum class PciRole : std::uint8_t { gpu, nic, bridge, other, unknown };

// By PCI class; where the file gives none, by what stands inside.
PciRole role_of(const pugi::xml_node& pci);

std::string busid_of(const pugi::xml_node& element);  // lower case
CpuKind cpu_of(const pugi::xml_node& cpu);

struct PciSpeed {
    int generation = 0, width = 16;  // generation 0: the file gives no speed (NCCL detects it)
    double rate() const;             // for comparison: lanes times the lane's rate
};
PciSpeed speed_of(const pugi::xml_node& pci);

// nothing: the attribute is missing or no number.
std::optional<int> number_in(const pugi::xml_node& element, const char* attribute);

}  // namespace wirewise::xml
