// Printed connection classes -> the machine graph.
#pragma once

#include <string>
#include <vector>

#include "model/topology/import.hpp"
#include "model/topology/smi/matrix.hpp"

namespace wirewise::smi {

// Needs matrix.gpu_wiring_known(). `words`: the text around, searched for a product name. Doubts go to
// `warnings`.
Machine machine_of(const Matrix& matrix, const std::vector<std::string>& words, const ImportHints& hints,
                   std::vector<std::string>& warnings);

}  // namespace wirewise::smi
