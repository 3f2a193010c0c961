// calibration/profiles/*.json, as compiled into the binary: all that was measured of one GPU kind, its wires
// included.
#pragma once

#include <span>

#include "model/units/embedded.hpp"

namespace wirewise {

std::span<const EmbeddedFile> profile_files();

// calibration/intervals/*.json: half widths of intervals where no profile of the machine has its own.
std::span<const EmbeddedFile> interval_files();

}  // namespace wirewise
