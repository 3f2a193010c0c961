// Writes a matrix the way nvidia-smi and the places people paste it into do.
#pragma once

#include <string>

#include "model/topology/import.hpp"

namespace wirewise::testing {

struct PasteStyle {
    std::string gap = "\t";  // between cells; "" fuses them
    std::string header_lead = "\t";
    std::string line_start, line_end = "\n";
    bool ansi = false, prompt = true, legend = true, affinity = true;
    std::string old_sys = "SYS";  // what SYS is called
};

// Rows and columns of all devices of `facts`; NUMA affinity i / per_numa.
std::string paste(const TopologyFacts& facts, const PasteStyle& style = {});

// The classes alone, "GPU0 GPU1 NV6" per pair in order: what must survive every style.
std::string classes_text(const TopologyFacts& facts);

}  // namespace wirewise::testing
