// --set key=value: edits a config before it is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace wirewise {

// Returns notes on what else had to change (a layer_types list cut to a new number of layers).
std::vector<std::string> apply_overrides(nlohmann::json& config, const std::vector<std::string>& overrides,
                                         std::string_view place);

}  // namespace wirewise
