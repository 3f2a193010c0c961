#include "model/topology/json_layout.hpp"

#include <fmt/format.h>

namespace wirewise {
namespace {

std::string one_line(const Json& json) {
    if (!json.is_structured() || json.empty())
        return json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string text;
    for (const auto& [key, value] : json.items()) {
        if (!text.empty()) text += ", ";
        if (json.is_object()) text += Json(key).dump() + ": ";
        text += one_line(value);
    }
    return fmt::format("{}{}{}", json.is_object() ? '{' : '[', text, json.is_object() ? '}' : ']');
}

void lay_out(const Json& json, std::size_t indent, std::size_t used, std::size_t width, std::string& out) {
    const std::string line = one_line(json);
    if (!json.is_structured() || json.empty() || (indent > 0 && used + line.size() <= width)) {
        out += line;
        return;
    }
    const std::string margin(indent + 2, ' ');
    out += json.is_object() ? "{" : "[";
    bool first = true;
    for (const auto& [key, value] : json.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        const std::string label = json.is_object() ? Json(key).dump() + ": " : std::string();
        out += margin + label;
        lay_out(value, indent + 2, margin.size() + label.size() + 1, width, out);
    }
    out += '\n';
    out.append(indent, ' ');
    out += json.is_object() ? '}' : ']';
}

}  // namespace

std::string laid_out(const Json& json, std::size_t width) {
    std::string out;
    lay_out(json, 0, 0, width, out);
    return out + "\n";
}

}  // namespace wirewise
