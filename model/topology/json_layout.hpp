// JSON laid out for people: what fits on a line stands on one line.
#pragma once

#include <string>

#include "model/topology/json_view.hpp"

namespace wirewise {

std::string laid_out(const Json& json, std::size_t width = 110);

}  // namespace wirewise
