// Rotary position embedding: base, scaling and how much of a head rotates.
#pragma once

#include "model/transformer/blueprint.hpp"

namespace wirewise {

// Reads rope_parameters (transformers 5) or rope_theta with rope_scaling (before).
void read_rope(ConfigKeys& keys, const Family& family, Blueprint& blueprint);

// For families that rotate a share of each head: reads that share under any of its spellings.
void rotate_part(ConfigKeys& keys, Blueprint& blueprint, const Spellings& names, double fallback);

// The same for families that say how many dimensions rotate (rotary_dim); null: all of them.
void rotate_dimensions(ConfigKeys& keys, Blueprint& blueprint, std::int64_t fallback);

// Layers without positions: no_rope_layers lists 1 for those that rotate, 0 for those that do not; without
// the list each no_rope_layer_interval-th [4] does not.
void skip_rotation(ConfigKeys& keys, Blueprint& blueprint);

}  // namespace wirewise
