// Pictures of a machine: islands, pairs and the narrow link at a glance.
#pragma once

#include <string>

#include "model/topology/machine.hpp"

namespace wirewise {

// NVLinks stand above the GPUs, the PCIe tree below them; the link that bounds traffic between islands is
// red.
std::string to_svg(const Machine& machine);

// For Graphviz (dot -Tsvg).
std::string to_dot(const Machine& machine);

}  // namespace wirewise
