// The self-contained HTML page of `plan --report`: the same answer as the JSON, drawn. It carries its data,
// style and script, and loads nothing.
#pragma once

#include "tools/inputs/inputs.hpp"

namespace wirewise {

std::string plan_page(const Inputs& inputs, const Answer& answer);

}  // namespace wirewise
