#include "model/transformer/parse_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/units/error.hpp"

namespace wirewise {

using nlohmann::json;

namespace {
constexpr int kDeepest = 32;  // real configs nest four or five deep

bool looks_binary(std::string_view text) { return text.substr(0, 512).find('\0') != std::string_view::npos; }

struct Position {
    std::int64_t line, column;
};

Position position_of(std::string_view text, std::size_t byte) {
    const auto before = text.substr(0, std::min(byte, text.size()));
    const auto last = before.rfind('\n');
    const auto column = before.size() - (last == std::string_view::npos ? 0 : last + 1);
    return {std::ranges::count(before, '\n') + 1, static_cast<std::int64_t>(column)};
}
}  // namespace

json parse_json(std::string_view text, std::string_view place) {
    const std::string where(place);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw InputError(where, "is empty", "give a config.json as downloaded");
    if (looks_binary(text))
        throw InputError(where, "is a binary file, not JSON", "give a config.json as downloaded");
    const auto shallow = [&](int depth, json::parse_event_t, json&) {
        if (depth > kDeepest)
            throw InputError(where, fmt::format("nests deeper than {} levels", kDeepest),
                             "give a config.json as downloaded");
        return true;
    };
    try {
        return json::parse(text, shallow);
    } catch (const json::parse_error& error) {
        if (error.byte >= text.size())
            throw InputError(where, "ends in the middle of the JSON",
                             "it looks truncated: download it again");
        const auto [line, column] = position_of(text, error.byte);
        throw InputError(fmt::format("{}:{}:{}", where, line, column), "is not valid JSON", "mend it there");
    } catch (const json::exception&) {
        throw InputError(where, "holds a number or text that is not valid JSON",
                         "give a config.json as downloaded");
    }
}

}  // namespace wirewise
