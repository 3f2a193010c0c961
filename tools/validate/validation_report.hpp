#pragma once

#include "tools/render/report.hpp"
#include "tools/validate/validation.hpp"

namespace wirewise {

Report validation_report(const Validation& validation);

// The page that the repository ships: the same tables under a heading that says what they are and the command
// that writes them.
Report accuracy_page(const Validation& validation, const std::string& command);

}  // namespace wirewise
