// The parameter count by part: what `wirewise model` prints.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/transformer/transformer.hpp"

namespace wirewise {

struct Part {
    std::string_view name;  // "embedding", "attention", "mlp", "routed_experts", ...
    std::int64_t parameters = 0, active = 0;
};

// Every part that the model has, in this order: embedding, positions, attention, mlp, router, routed_experts,
// shared_experts, norms, head, other. The parameters add up to Transformer::parameters().
std::vector<Part> parameter_parts(const Transformer& model);

// True for the tensors (and their biases) of routed experts: only top_k of experts work on a token.
bool is_routed_expert(const Parameter& parameter);

// True for weights that multiply every token (or, of experts, the tokens sent to them): no lookups, norms or
// biases.
bool is_matmul(const Parameter& parameter);

}  // namespace wirewise
