// `nvidia-smi topo -m` as people paste it -> Machine.
#pragma once

#include <string_view>

#include "model/topology/import.hpp"

namespace wirewise::smi {

ImportResult import_text(std::string_view text, const ImportHints& hints);

// Whether a topo -m matrix stands somewhere in the text (an issue that begins with an HTML tag may hold one).
bool holds_matrix(std::string_view text);

}  // namespace wirewise::smi
