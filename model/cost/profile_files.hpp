// calibration/profiles/*.json, as compiled into the binary: cost profiles ("h200-sxm.json") and measured
// collectives
// ("collectives_h200-x2.json").
#pragma once

#include <span>

#include "model/units/embedded.hpp"

namespace wirewise {

std::span<const EmbeddedFile> profile_files();

// calibration/intervals/*.json: half widths of intervals where no profile of the machine has its own.
std::span<const EmbeddedFile> interval_files();

}  // namespace wirewise
