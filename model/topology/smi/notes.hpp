// What stands around the matrix: the NIC legend, product names and bus ids of the GPUs.
#pragma once

#include <string>
#include <vector>

#include "model/topology/smi/matrix.hpp"

namespace wirewise::smi {

void read_notes(const std::vector<std::string>& lines, Matrix& matrix);

}  // namespace wirewise::smi
