// JSON text from outside: one clear message for what is no JSON, and a limit on nesting, so that no file can
// exhaust the stack.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace wirewise {

nlohmann::json parse_json(std::string_view text, std::string_view place);

}  // namespace wirewise
