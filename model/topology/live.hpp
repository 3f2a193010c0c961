// The machine this program runs on, as its NVIDIA driver shows it.
#pragma once

#include "model/topology/import.hpp"

namespace wirewise {

// Runs `nvidia-smi topo -m` and asks NVML (loaded at run time) for product names and bus ids. Throws
// InputError where there is no driver.
ImportResult import_live(const ImportHints& hints = {});

// What import_live reads, as one text: a list of the GPUs, then the matrix.
std::string live_text();

}  // namespace wirewise
