// The machines that come with wirewise: topologies/machines/*.json, compiled in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

std::vector<std::string> built_in_machine_names();  // sorted

// Nothing where there is no such machine.
std::optional<Machine> built_in_machine(std::string_view name);

}  // namespace wirewise
