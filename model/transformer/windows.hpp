// Which layers see how far back. A config's layer_types list decides where it is present; else the family's
// rule.
#pragma once

#include <functional>

#include "model/transformer/blueprint.hpp"

namespace wirewise {

// Every layer slides over sliding_window tokens; null: none does. `fallback` (0: none) stands for an absent
// key.
void slide_every_layer(ConfigKeys& keys, Blueprint& blueprint, std::int64_t fallback);

// Layers for which `slides(index)` holds see sliding_window tokens; layer_types, where present, overrules it.
void slide_some_layers(ConfigKeys& keys, Blueprint& blueprint, std::int64_t fallback,
                       const std::function<bool(std::int64_t)>& slides);

// Qwen's rule: use_sliding_window [false] switches it on for the layers from max_window_layers [28] up.
void slide_upper_layers(ConfigKeys& keys, Blueprint& blueprint);

// All but each pattern-th layer slide: `names` spell the key that gives it.
void slide_by_pattern(ConfigKeys& keys, Blueprint& blueprint, std::int64_t window, const Spellings& names,
                      std::int64_t pattern);

}  // namespace wirewise
