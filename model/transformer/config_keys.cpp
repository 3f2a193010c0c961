#include "model/transformer/config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {

using nlohmann::json;

namespace {
// A value as a message shows it: short, whatever the file holds.
std::string shown(const json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list";
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

const json* member(const json* object, std::string_view name) {
    if (!object || !object->is_object()) return nullptr;
    const auto found = object->find(name);
    return found == object->end() ? nullptr : &*found;
}

std::string joined(const Spellings& names) { return fmt::format("{}", fmt::join(names, " or ")); }
}  // namespace

ConfigKeys::ConfigKeys(const json& object, std::string_view place, const json* outer)
    : object_(&object), outer_(outer), place_(place) {}

const json* ConfigKeys::value(const Spellings& names) const {
    const json* found = nullptr;
    std::string_view under;
    for (auto name : names) {
        const json* here = member(object_, name);
        if (!here || here->is_null()) continue;
        if (found && *found != *here)
            refuse(name, fmt::format("is {}, but {} is {}", shown(*here), under, shown(*found)),
                   "keep one of the two");
        if (!found) found = here, under = name;
    }
    return found;
}

const json* ConfigKeys::value_or_outer(std::string_view name) const {
    if (const json* here = value({name})) return here;
    const json* outside = member(outer_, name);
    return outside && !outside->is_null() ? outside : nullptr;
}

bool ConfigKeys::has(std::string_view name) const { return value({name}) != nullptr; }

bool ConfigKeys::is_null(const Spellings& names) const {
    for (auto name : names)
        if (const json* here = member(object_, name); here && here->is_null()) return true;
    return false;
}

std::optional<std::int64_t> ConfigKeys::optional_integer(const Spellings& names, Range range) const {
    const json* here = value(names);
    if (!here) return std::nullopt;
    std::string_view name = names.front();
    for (auto spelling : names)
        if (has(spelling)) name = spelling;
    const std::string remedy =
        fmt::format("write an integer from {} to {}", range.low, with_commas(range.high));
    if (!here->is_number_integer()) refuse(name, fmt::format("is {}, not an integer", shown(*here)), remedy);
    const bool beyond = here->is_number_unsigned() && here->get<std::uint64_t>() > INT64_MAX;
    const auto number = here->get<std::int64_t>();
    if (beyond || number < range.low || number > range.high)
        refuse(name, fmt::format("is {}, outside the range of real models", shown(*here)), remedy);
    return number;
}

std::int64_t ConfigKeys::integer(const Spellings& names, Range range) const {
    const auto number = optional_integer(names, range);
    if (!number)
        refuse(names.front(), is_null(names) ? "is null" : "is missing",
               fmt::format("it has no safe default: write \"{}\": <integer>", joined(names)));
    return *number;
}

std::int64_t ConfigKeys::integer_or(const Spellings& names, std::int64_t fallback, std::string_view from,
                                    Range range) {
    if (const auto number = optional_integer(names, range)) return *number;
    note_default(names.front(), fmt::to_string(fallback), from);
    return fallback;
}

bool ConfigKeys::flag_or(std::string_view name, bool fallback, std::string_view from) {
    const json* here = value({name});
    if (!here) return note_default(name, fallback ? "true" : "false", from), fallback;
    if (!here->is_boolean())
        refuse(name, fmt::format("is {}, not a boolean", shown(*here)), "write true or false");
    return here->get<bool>();
}

bool ConfigKeys::outer_flag(std::string_view name) const {
    const json* here = value_or_outer(name);
    if (!here || !here->is_boolean())
        refuse(name, "outside text_config is not a boolean", "write true or false");
    return here->get<bool>();
}

std::string ConfigKeys::outer_text(std::string_view name) const {
    const json* here = value_or_outer(name);
    return here && here->is_string() ? here->get<std::string>() : std::string();
}

double ConfigKeys::number_or(const Spellings& names, double fallback, std::string_view from) {
    const json* here = value(names);
    if (!here) return note_default(names.front(), fmt::format("{}", fallback), from), fallback;
    const double number = here->is_number() ? here->get<double>() : std::nan("");
    if (!(number > 0) || !std::isfinite(number))
        refuse(names.front(), fmt::format("is {}, not a positive number", shown(*here)),
               "write a positive number");
    return number;
}

std::string ConfigKeys::text_or(const Spellings& names, std::string_view fallback, std::string_view from) {
    const json* here = value(names);
    if (!here) return note_default(names.front(), std::string(fallback), from), std::string(fallback);
    if (!here->is_string())
        refuse(names.front(), fmt::format("is {}, not a string", shown(*here)), "write a string");
    return here->get<std::string>();
}

std::optional<std::vector<std::string>> ConfigKeys::texts(std::string_view name) const {
    const json* here = value({name});
    if (!here) return std::nullopt;
    if (!here->is_array() || !std::ranges::all_of(*here, [](const json& entry) { return entry.is_string(); }))
        refuse(name, "is not a list of strings", "write [\"...\", ...] or leave the key out");
    return here->get<std::vector<std::string>>();
}

std::optional<std::vector<std::int64_t>> ConfigKeys::integers(std::string_view name) const {
    const json* here = value({name});
    if (!here) return std::nullopt;
    if (!here->is_array() ||
        !std::ranges::all_of(*here, [](const json& entry) { return entry.is_number_integer(); }))
        refuse(name, "is not a list of integers", "write [0, ...] or leave the key out");
    return here->get<std::vector<std::int64_t>>();
}

void ConfigKeys::note_default(std::string_view key, std::string value, std::string_view from) {
    defaulted_.push_back({std::string(key), std::move(value), std::string(from)});
}

void ConfigKeys::refuse(std::string_view name, std::string problem, std::string remedy) const {
    throw InputError(place_ + "/" + std::string(name), std::move(problem), std::move(remedy));
}

void ConfigKeys::absorb(std::string_view name, const ConfigKeys& nested) {
    for (const auto& entry : nested.defaulted_)
        note_default(std::string(name) + "." + entry.key, entry.value, entry.from);
}

std::optional<ConfigKeys> ConfigKeys::inside(std::string_view name) const {
    const json* here = value({name});
    if (!here) return std::nullopt;
    if (!here->is_object())
        refuse(name, fmt::format("is {}, not an object", shown(*here)), "write {...} or null");
    return ConfigKeys(*here, place_ + "/" + std::string(name));
}

}  // namespace wirewise
