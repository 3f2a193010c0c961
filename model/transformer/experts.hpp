// Mixture of experts: which layers route, to how many experts of which width.
#pragma once

#include <functional>

#include "model/transformer/blueprint.hpp"

namespace wirewise {

// How a family spells its experts. All three are compulsory: no default is safe.
struct ExpertKeys {
    Spellings experts, top_k{"num_experts_per_tok"};
    Spellings width{"moe_intermediate_size"};  // empty: the dense width is an expert's
};

// Fills the blueprint's routed MLP. Refuses more active experts than there are.
void read_experts(ConfigKeys& keys, Blueprint& blueprint, const ExpertKeys& names);

// Marks the layers that route; `routes` is asked for each index.
void route_layers(Blueprint& blueprint, const std::function<bool(std::int64_t)>& routes);

}  // namespace wirewise
