#include "model/transformer/overrides.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/transformer/parse_json.hpp"
#include "model/units/error.hpp"

namespace wirewise {

using nlohmann::json;

namespace {
struct Override {
    std::vector<std::string> path;
    json value;
};

std::vector<std::string> split_path(const std::string& key, const std::string& place) {
    std::vector<std::string> path;
    for (std::size_t start = 0; start <= key.size();) {
        const auto dot = std::min(key.find('.', start), key.size());
        if (dot == start) throw InputError(place, "has an empty key", "write --set key=value");
        path.push_back(key.substr(start, dot - start));
        start = dot + 1;
    }
    return path;
}

// A value that is no JSON is a plain string: --set hidden_act=gelu.
json value_of(const std::string& text, const std::string& place) {
    const bool word =
        !text.empty() && text.find_first_of("{}[]\",:") == std::string::npos && !json::accept(text);
    return word ? json(text) : parse_json(text, place);
}

Override parse_override(const std::string& text) {
    const auto equals = text.find('=');
    const std::string place = "--set " + text.substr(0, 100);
    if (equals == std::string::npos || equals == 0)
        throw InputError(place, "is not key=value", "write e.g. --set num_hidden_layers=8");
    return {split_path(text.substr(0, equals), place), value_of(text.substr(equals + 1), place)};
}

json& enter(json& config, const Override& edit, const std::string& text) {
    json* at = &config;
    for (std::size_t i = 0; i + 1 < edit.path.size(); ++i) {
        if (at->is_null()) *at = json::object();
        if (!at->is_object())
            throw InputError("--set " + text, fmt::format("{} is not an object in this config", edit.path[i]),
                             "use dots only for nested objects");
        at = &(*at)[edit.path[i]];
    }
    if (at->is_null()) *at = json::object();
    if (!at->is_object())
        throw InputError("--set " + text, "goes below a plain value", "use dots only for nested objects");
    return *at;
}

// Lists with one entry a layer follow a changed number of layers: cut, or repeated from the start.
void fit_layer_lists(json& owner, std::vector<std::string>& notes) {
    const json& layers = owner["num_hidden_layers"];
    const auto types = owner.find("layer_types");
    if (types == owner.end() || !types->is_array() || types->empty() || !layers.is_number_unsigned()) return;
    const auto wanted = layers.get<std::uint64_t>();
    if (wanted == types->size() || wanted > 10'000) return;
    json fitted = json::array();
    for (std::size_t i = 0; i < wanted; ++i) fitted.push_back((*types)[i % types->size()]);
    *types = std::move(fitted);
    notes.push_back(fmt::format("layer_types was fitted to the {} layers that --set asks for", wanted));
}
}  // namespace

std::vector<std::string> apply_overrides(json& config, const std::vector<std::string>& overrides,
                                         std::string_view place) {
    std::vector<std::string> notes;
    if (!overrides.empty() && !config.is_object())
        throw InputError(std::string(place), "is not a JSON object", "give a config.json as downloaded");
    for (const auto& text : overrides) {
        Override edit = parse_override(text);
        json& owner = enter(config, edit, text);
        owner[edit.path.back()] = std::move(edit.value);
        if (edit.path.back() == "num_hidden_layers") fit_layer_lists(owner, notes);
    }
    return notes;
}

}  // namespace wirewise
