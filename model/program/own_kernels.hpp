// The kernels of our own runtime by name, as profiles and samples write them.
#pragma once

#include <optional>
#include <string_view>

#include "model/program/kernel.hpp"

namespace wirewise {

// What name_of() calls so; nothing for kernels of other frameworks.
std::optional<PointwiseKind> own_kernel(std::string_view name);

}  // namespace wirewise
