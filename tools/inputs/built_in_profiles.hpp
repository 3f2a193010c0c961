// calibration/profiles/*.json, as compiled into the binary.
#pragma once

#include <span>

#include "model/units/embedded.hpp"

namespace wirewise {

std::span<const EmbeddedFile> built_in_profile_files();

}  // namespace wirewise
