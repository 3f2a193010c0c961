#include "model/transformer/rope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace wirewise {

namespace {
// Scaling objects say "rope_type", older ones "type". Parameters that a kind does not have keep their
// defaults.
RopeScaling read_scaling(ConfigKeys& keys) {
    RopeScaling scaling;
    scaling.kind = keys.text_or({"rope_type", "type"}, scaling.kind, "RoPE scaling default");
    if (keys.has("factor")) scaling.factor = keys.number_or({"factor"}, 1, "");
    if (keys.has("low_freq_factor"))
        scaling.low_frequency_factor = keys.number_or({"low_freq_factor"}, 1, "");
    if (keys.has("high_freq_factor"))
        scaling.high_frequency_factor = keys.number_or({"high_freq_factor"}, 4, "");
    const Range positions{1, std::int64_t{1} << 40};
    scaling.original_max_position =
        keys.optional_integer({"original_max_position_embeddings"}, positions).value_or(0);
    return scaling;
}

// rope_parameters may hold one object per layer type; the full-attention one speaks for the model.
std::optional<ConfigKeys> rope_parameters(const ConfigKeys& keys) {
    auto all = keys.inside("rope_parameters");
    if (all)
        if (auto full = all->inside("full_attention")) return full;
    return all ? std::move(all) : keys.inside("rope_scaling");
}

double read_theta(ConfigKeys& keys, const std::optional<ConfigKeys>& nested, const Family& family) {
    if (nested && nested->has("rope_theta")) return ConfigKeys(*nested).number_or({"rope_theta"}, 1, "");
    return keys.number_or({"rope_theta", "rotary_emb_base"}, family.defaults.rope_theta,
                          class_default(family));
}
}  // namespace

void read_rope(ConfigKeys& keys, const Family& family, Blueprint& blueprint) {
    auto nested = rope_parameters(keys);
    blueprint.model.rope_theta = read_theta(keys, nested, family);
    if (nested) blueprint.model.rope_scaling = read_scaling(*nested);
    blueprint.attention.rotary_dim = blueprint.attention.head_dim;
}

void rotate_part(ConfigKeys& keys, Blueprint& blueprint, const Spellings& names, double fallback) {
    auto nested = rope_parameters(keys);
    const bool inside = nested && nested->has("partial_rotary_factor");
    const double factor =
        inside ? nested->number_or({"partial_rotary_factor"}, 1, "")
               : keys.number_or(names, fallback, fmt::format("{} default", blueprint.family->config_class));
    if (factor > 1)
        keys.refuse(names.front(), fmt::format("is {}, above 1", factor), "write a share of the head");
    auto& attention = blueprint.attention;
    attention.rotary_dim =
        static_cast<std::int64_t>(std::floor(factor * static_cast<double>(attention.head_dim)));
}

void rotate_dimensions(ConfigKeys& keys, Blueprint& blueprint, std::int64_t fallback) {
    auto& attention = blueprint.attention;
    const Range within{1, attention.head_dim};
    attention.rotary_dim = keys.is_null({"rotary_dim"})
                               ? attention.head_dim
                               : keys.integer_or({"rotary_dim"}, std::min(fallback, attention.head_dim),
                                                 class_default(blueprint), within);
}

void skip_rotation(ConfigKeys& keys, Blueprint& blueprint) {
    auto& layers = blueprint.layers;
    const auto listed = keys.integers("no_rope_layers");
    if (listed && !listed->empty()) {
        if (listed->size() < layers.size())
            keys.refuse("no_rope_layers", fmt::format("names {} layers of {}", listed->size(), layers.size()),
                        "name each layer once, or leave the key out");
        for (std::size_t index = 0; index < layers.size(); ++index)
            layers[index].rotary = (*listed)[index] != 0;
        return;
    }
    const auto interval = keys.integer_or({"no_rope_layer_interval"}, 4, class_default(blueprint));
    for (std::size_t index = 0; index < layers.size(); ++index)
        layers[index].rotary = (static_cast<std::int64_t>(index) + 1) % interval != 0;
}

}  // namespace wirewise
