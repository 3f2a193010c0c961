// The affinity cells at the end of a GPU's row.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/topology/smi/tokens.hpp"

namespace wirewise::smi {

using Affinity =
    std::vector<std::pair<std::string, std::optional<std::string>>>;  // heading -> text; nothing: blank

Affinity affinity_of(const Row& row, const Header& header);

}  // namespace wirewise::smi
