// Names what a text is that holds no topo -m matrix.
#pragma once

#include <string>
#include <string_view>

#include "model/topology/smi/matrix.hpp"

namespace wirewise::smi {

std::string what_it_is(std::string_view text, OtherMatrix other);

}  // namespace wirewise::smi
