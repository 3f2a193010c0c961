// A config, normalised: what the tables of its family need to become tensors.
#pragma once

#include <vector>

#include "model/transformer/config_keys.hpp"
#include "model/transformer/family.hpp"
#include "model/transformer/layout.hpp"

namespace wirewise {

// What sets one layer apart from its neighbours.
struct LayerPlan {
    std::int64_t window = 0;
    bool chunked = false, rotary = true, routed = false;
    bool operator==(const LayerPlan&) const = default;
};

struct Blueprint {
    const Family* family = nullptr;
    Transformer model;  // the scalar facts; tensors come last
    Widths widths;
    Traits traits = trait::always;
    AttentionShape attention;
    MlpShape mlp;  // of dense layers; `expert` of routed ones
    MlpShape expert;
    bool parallel_block = false, pre_norms = true, post_norms = false;
    std::vector<LayerPlan> layers;
};

// Where a default came from, as DefaultedKey::from says it: "LlamaConfig default".
std::string class_default(const Family& family);
inline std::string class_default(const Blueprint& blueprint) { return class_default(*blueprint.family); }

// Reads the keys that all families share and lets the family refine the result.
Blueprint read_blueprint(const Family& family, ConfigKeys& keys);

// Turns the blueprint into tensors and layer kinds.
Transformer build(Blueprint blueprint);

}  // namespace wirewise
