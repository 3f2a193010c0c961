#include "tools/inputs/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "model/units/error.hpp"
#include "model/units/near.hpp"

namespace wirewise {

namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    while (true) {
        const auto end = text.find(at);
        parts.emplace_back(trimmed(text.substr(0, end)));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool switch_of(std::string_view text, const char* option) {
    if (text == "on" || text == "true") return true;
    if (text == "off" || text == "false") return false;
    throw InputError(option, fmt::format("\"{}\" is neither on nor off", text), "write on or off");
}

std::int64_t integer_of(std::string_view text, const char* option) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
        throw InputError(option, fmt::format("\"{}\" is not an integer", text), "write digits only");
    return value;
}

std::string remedy_from(std::string_view word, const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 3, kAll = 8;
    if (names.size() <= kAll) return fmt::format("write one of {}", fmt::join(names, ", "));
    return fmt::format("did you mean {}?", fmt::join(near_names(word, names, kShown), ", "));
}

Price price_of(std::string_view text) {
    const auto refuse = [&](const char* why) {
        return InputError("--price", fmt::format("\"{}\" {}", text, why),
                          "write for example \"2.10 USD/GPU/h\"");
    };
    double number = 0;
    const std::string_view clean = trimmed(text);
    const auto [end, error] = std::from_chars(clean.data(), clean.data() + clean.size(), number);
    constexpr double kMost = 1e6;
    if (error != std::errc{} || !(number >= 0 && number <= kMost))
        throw refuse("does not start with a price");
    const std::string_view unit = trimmed(clean.substr(static_cast<std::size_t>(end - clean.data())));
    const auto slash = unit.find('/');
    if (slash == 0 || slash == std::string_view::npos || unit.substr(slash) != "/GPU/h")
        throw refuse("is not per GPU and hour");
    return {number, std::string(unit.substr(0, slash))};
}

}  // namespace wirewise
