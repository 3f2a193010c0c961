#include "model/transformer/windows.hpp"

#include <fmt/format.h>

#include <optional>

namespace wirewise {

namespace {
constexpr Range kWindow{1, std::int64_t{1} << 40};

std::int64_t window_of(ConfigKeys& keys, const Blueprint& blueprint, std::int64_t fallback) {
    if (keys.is_null({"sliding_window"})) return 0;
    if (fallback == 0) return keys.optional_integer({"sliding_window"}, kWindow).value_or(0);
    return keys.integer_or({"sliding_window"}, fallback, class_default(blueprint), kWindow);
}

// True where the layer slides. Anything but these two kinds is another architecture.
std::optional<std::vector<bool>> layer_types(const ConfigKeys& keys, std::size_t layers) {
    const auto types = keys.texts("layer_types");
    if (!types) return std::nullopt;
    if (types->size() != layers)
        keys.refuse("layer_types", fmt::format("names {} layers of {}", types->size(), layers),
                    "name each layer once, or leave the key out");
    std::vector<bool> slides;
    for (const auto& type : *types) {
        if (type != "sliding_attention" && type != "full_attention")
            keys.refuse("layer_types", fmt::format("holds \"{}\", which is not modelled", type),
                        "only full_attention and sliding_attention are");
        slides.push_back(type == "sliding_attention");
    }
    return slides;
}
// An integer n, or letters: "LLLG" is 4 (local, local, local, global).
std::int64_t pattern_of(ConfigKeys& keys, const Blueprint& blueprint, const Spellings& names,
                        std::int64_t fallback) {
    const std::string letters = keys.outer_text(names.front());
    if (letters.empty()) return keys.integer_or(names, fallback, class_default(blueprint));
    if (letters.find_first_not_of('L') != letters.size() - 1 || letters.back() != 'G')
        keys.refuse(names.front(), "is not a pattern that is modelled",
                    "write an integer or letters such as LLLG");
    return static_cast<std::int64_t>(letters.size());
}
}  // namespace

void slide_every_layer(ConfigKeys& keys, Blueprint& blueprint, std::int64_t fallback) {
    slide_some_layers(keys, blueprint, fallback, [](std::int64_t) { return true; });
}

void slide_some_layers(ConfigKeys& keys, Blueprint& blueprint, std::int64_t fallback,
                       const std::function<bool(std::int64_t)>& slides) {
    const auto window = window_of(keys, blueprint, fallback);
    const auto types = layer_types(keys, blueprint.layers.size());
    for (std::size_t index = 0; index < blueprint.layers.size(); ++index)
        if (types ? (*types)[index] : slides(static_cast<std::int64_t>(index)))
            blueprint.layers[index].window = window;
}

void slide_upper_layers(ConfigKeys& keys, Blueprint& blueprint) {
    const bool on = keys.flag_or("use_sliding_window", false, class_default(blueprint));
    if (!on) return;  // then neither sliding_window nor layer_types makes a layer slide
    const auto from = keys.integer_or({"max_window_layers"}, 28, class_default(blueprint), {0, kWindow.high});
    slide_some_layers(keys, blueprint, 4096, [from](std::int64_t index) { return index >= from; });
}

void slide_by_pattern(ConfigKeys& keys, Blueprint& blueprint, std::int64_t window, const Spellings& names,
                      std::int64_t pattern) {
    const auto every = keys.has("layer_types") ? pattern : pattern_of(keys, blueprint, names, pattern);
    slide_some_layers(keys, blueprint, window,
                      [every](std::int64_t index) { return (index + 1) % every != 0; });
}

}  // namespace wirewise
