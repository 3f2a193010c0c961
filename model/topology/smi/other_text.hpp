// Names what a text is that holds no topo -m matrix.
#pragma once

#include <string>
#include <string_view>

#include "model/topology/smi/matrix.hpp"

namespace wirewise::smi {

std::string what_it_is(std::string_view text, OtherMatrix other);

// Link types of rocm-smi or amd-smi, whose first letter would pass for a cell of nvidia-smi ("X").
bool is_of_amd(std::string_view text);

}  // namespace wirewise::smi
