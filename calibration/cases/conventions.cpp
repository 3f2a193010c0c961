#include "calibration/cases/conventions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

#include "model/units/embedded.hpp"
#include "model/units/error.hpp"

namespace wirewise {

std::span<const EmbeddedFile> convention_files();

namespace {

using Json = nlohmann::json;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

const Json* value_of(const Json& row, const std::string& key) {
    const auto found = row.find(key);
    return found == row.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float() && value == std::floor(value.get<double>()))
        return fmt::format("{}", value.get<std::int64_t>());
    return value.dump();
}

bool holds(const Json* value, const Json& wanted);

bool holds_relation(const Json* value, const Json& relation) {
    if (const auto least = relation.find("above"); least != relation.end())
        return value && value->is_number() && value->get<double>() > least->get<double>();
    if (const auto exact = relation.find("is"); exact != relation.end())
        return value && value->is_string() &&
               lower(value->get<std::string>()) == lower(exact->get<std::string>());
    if (const auto refused = relation.find("not"); refused != relation.end()) return !holds(value, *refused);
    fail_invariant("a condition is above, is or not", std::source_location::current());
}

// Text: contained, whatever the case. null: absent. A list: any of it.
bool holds(const Json* value, const Json& wanted) {
    if (wanted.is_array())
        return std::any_of(wanted.begin(), wanted.end(), [&](const Json& one) { return holds(value, one); });
    if (wanted.is_object()) return holds_relation(value, wanted);
    if (wanted.is_null()) return !value;
    if (!value) return false;
    if (wanted.is_string())
        return value->is_string() &&
               lower(value->get<std::string>()).find(lower(wanted.get<std::string>())) != std::string::npos;
    return *value == wanted;
}

bool applies(const Json& rule, const Json& row, const RowMeaning& so_far) {
    if (const auto unless = rule.find("unless"); unless != rule.end())
        if (so_far.facts.contains(unless->get<std::string>())) return false;
    const Json& when = rule.at("when");
    return std::all_of(when.items().begin(), when.items().end(),
                       [&](const auto& item) { return holds(value_of(row, item.key()), item.value()); });
}

// "n_layers={num_layers}" filled from the row; nothing when the row does not state it.
std::optional<std::string> filled(std::string text, const Json& row) {
    while (true) {
        const auto open = text.find('{');
        const auto close = text.find('}', open);
        if (open == std::string::npos || close == std::string::npos) return text;
        const Json* value = value_of(row, text.substr(open + 1, close - open - 1));
        if (!value) return std::nullopt;
        text.replace(open, close - open + 1, text_of(*value));
    }
}

// The one fact that adds up: each rule names what it assumes.
constexpr std::string_view kApart = "apart";

void add_fact(RowMeaning& meaning, const std::string& key, const Json& value, const Json& row) {
    if (value.is_null() || value == false) {
        meaning.facts.erase(key);
        return;
    }
    std::vector<std::string> values;
    for (const Json& one : value.is_array() ? value : Json::array({value}))
        if (!one.is_boolean())
            if (const auto text = filled(text_of(one), row)) values.push_back(*text);
    if (value != true && values.empty()) return;
    std::vector<std::string>& fact = meaning.facts[key];
    if (key != kApart) fact.clear();
    fact.insert(fact.end(), values.begin(), values.end());
}

std::vector<Json> rules_in_order() {
    std::vector<Json> rules;
    for (const EmbeddedFile& file : convention_files()) {
        const Json text = Json::parse(file.text);
        for (const Json& rule : text.at("rules")) rules.push_back(rule);
    }
    return rules;
}

// A group that some rule asks for by name.
bool described(const Json& row, const std::vector<Json>& rules) {
    return std::any_of(rules.begin(), rules.end(), [&](const Json& rule) {
        const auto group = rule.at("when").find("group");
        return group != rule.at("when").end() && holds(value_of(row, "group"), *group);
    });
}

}  // namespace

RowMeaning meaning_of(const Json& told) {
    static const std::vector<Json> rules = rules_in_order();
    Json row = told;
    row["described"] = described(told, rules);
    RowMeaning meaning;
    for (const Json& rule : rules) {
        if (!applies(rule, row, meaning)) continue;
        if (const auto reason = rule.find("set_aside"); reason != rule.end() && meaning.set_aside.empty())
            meaning.set_aside = reason->get<std::string>();
        if (const auto facts = rule.find("facts"); facts != rule.end())
            for (const auto& [key, value] : facts->items()) add_fact(meaning, key, value, row);
    }
    return meaning;
}

}  // namespace wirewise
