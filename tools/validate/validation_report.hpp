#pragma once

#include "tools/render/report.hpp"
#include "tools/validate/validation.hpp"

namespace wirewise {

Report validation_report(const Validation& validation);

}  // namespace wirewise
