// Rotary position embedding: base, scaling and how much of a head rotates.
#pragma once

#include "model/transformer/blueprint.hpp"

namespace wirewise {

// Reads rope_parameters (transformers 5) or rope_theta with rope_scaling (before).
void read_rope(ConfigKeys& keys, const Family& family, Blueprint& blueprint);

// For families that rotate a share of each head: reads that share under any of its spellings.
void rotate_part(ConfigKeys& keys, Blueprint& blueprint, const Spellings& names, double fallback);

}  // namespace wirewise
