// NCCL (and RCCL) topology XML -> Machine: what NCCL_TOPO_DUMP_FILE writes and clouds ship as NCCL_TOPO_FILE.
#pragma once

#include <string_view>

#include "model/topology/import.hpp"

namespace wirewise {

ImportResult import_nccl_xml(std::string_view text, const ImportHints& hints);

}  // namespace wirewise
