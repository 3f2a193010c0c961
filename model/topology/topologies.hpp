// The data files of the topologies folder, as compiled into the binary.
#pragma once

#include <string_view>

#include "model/units/embedded.hpp"

namespace wirewise {

std::span<const EmbeddedFile> topology_files();          // topologies/*.json: catalogues
std::span<const EmbeddedFile> built_in_machine_files();  // topologies/machines/*.json

// The text of one of topology_files().
std::string_view topology_file(std::string_view name);

}  // namespace wirewise
