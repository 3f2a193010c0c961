// Tables of tensors: a family lists the tensors of its layer and root as rows of symbols, in registration
// order; the widths of a config turn rows into shapes. So an architecture is data, and one interpreter serves
// all of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/transformer/transformer.hpp"

namespace wirewise {

// Every width that a tensor can have.
enum class Width : std::uint8_t {
    none,  // no such dimension
    hidden,
    vocabulary,
    positions,
    embedding,  // of the token table where it is not hidden (OPT-350m)
    heads,
    kv_heads,
    head_dim,
    value_head_dim,
    query,
    key,
    value,
    output,
    query_key_value,  // heads x their dims
    query_rank,
    kv_rank,
    kv_down,
    kv_up,  // MLA; kv_down = kv_rank + rope dims
    intermediate,
    gate_up,  // gate_up = 2 x intermediate
    experts,
    expert,
    expert_gate_up,  // routed
    shared,
    shared_gate_up,  // always-active experts
    one,
    count
};

class Widths {
  public:
    std::int64_t& operator[](Width width) { return values_[static_cast<std::size_t>(width)]; }
    std::int64_t operator[](Width width) const { return values_[static_cast<std::size_t>(width)]; }

  private:
    std::array<std::int64_t, static_cast<std::size_t>(Width::count)> values_{};
};

// What is true of a model or of one of its layers; rows and biases are present when all their traits are.
using Traits = std::uint64_t;
namespace trait {
enum : Traits {
    always = 0,
    query_bias = 1 << 0,  // of q, k and v
    output_bias = 1 << 1,
    mlp_bias = 1 << 2,
    norm_bias = 1 << 3,
    head_bias = 1 << 4,
    head_norm = 1 << 5,
    norm_weight = 1 << 6,
    untied = 1 << 7,
    dense = 1 << 8,  // the layer's MLP, or ...
    routed = 1 << 9,
    shared = 1 << 10,  // ... with always-active experts beside the routed ones
    low_rank_query = 1 << 11,
    full_query = 1 << 12,
    one_norm = 1 << 13,
    second_norm = 1 << 14,
    two_norms = 1 << 15,
    last_norm = 1 << 16,
    projected_embedding = 1 << 17,
    never = Traits{1} << 63,
};
}

struct Row {
    std::string_view name{};  // of the module, or of the parameter itself when bare
    ParameterUse use = ParameterUse::other;
    std::array<Width, 3> shape{};
    Traits when = trait::always;               // present when all of these hold
    Traits bias = trait::never;                // its module has a bias too when all of these hold
    bool bare = false;                         // a parameter of its parent: no ".weight"
    bool transposed = false;                   // stored [in, out]
    Width repeat = Width::none;                // this many modules, numbered where the name has '#'
    ParameterUse owner = ParameterUse::other;  // of a bare bias
};
using Rows = std::span<const Row>;

// The tensors of these rows.
std::vector<Parameter> expand(Rows rows, const Widths& widths, Traits traits);

// The kinds of row. `out` and `in` as torch.nn.Linear has them.
constexpr Row linear(std::string_view name, ParameterUse use, Width out, Width in, Traits bias = trait::never,
                     Traits when = trait::always) {
    return {.name = name, .use = use, .shape = {out, in, Width::none}, .when = when, .bias = bias};
}
constexpr Row conv1d(std::string_view name, ParameterUse use, Width out, Width in) {
    return {
        .name = name, .use = use, .shape = {in, out, Width::none}, .bias = trait::always, .transposed = true};
}
constexpr Row table(std::string_view name, ParameterUse use, Width rows, Width columns,
                    Traits when = trait::always) {
    return {.name = name, .use = use, .shape = {rows, columns, Width::none}, .when = when};
}
constexpr Row norm(std::string_view name, Traits when = trait::always, Width width = Width::hidden,
                   ParameterUse use = ParameterUse::norm) {
    return {.name = name,
            .use = use,
            .shape = {width, Width::none, Width::none},
            .when = when | trait::norm_weight,
            .bias = trait::norm_bias};
}
constexpr Row head_norm(std::string_view name, Width width, Traits bias = trait::never,
                        Traits when = trait::head_norm) {
    return {.name = name,
            .use = ParameterUse::head_norm,
            .shape = {width, Width::none, Width::none},
            .when = when,
            .bias = bias};
}
// Stacked weights or biases of all experts: [experts, a, b].
constexpr Row stacked(std::string_view name, ParameterUse use, Width a, Width b) {
    return {.name = name, .use = use, .shape = {Width::experts, a, b}, .when = trait::routed, .bare = true};
}

}  // namespace wirewise
