#include "model/transformer/layout.hpp"

#include "model/units/error.hpp"

namespace wirewise {

namespace {
bool holds(Traits wanted, Traits traits) { return (wanted & traits) == wanted; }

std::vector<std::int64_t> shape_of(const Row& row, const Widths& widths) {
    std::vector<std::int64_t> shape;
    for (auto width : row.shape) {
        if (width == Width::none) continue;
        ensure(widths[width] > 0, "a family's row uses a width that it never sets");
        shape.push_back(widths[width]);
    }
    return shape;
}

Parameter weight_of(const Row& row, const Widths& widths) {
    const bool bare_bias = row.use == ParameterUse::bias;
    return {.name = std::string(row.name) + (row.bare ? "" : ".weight"),
            .shape = shape_of(row, widths),
            .use = row.use,
            .owner = bare_bias ? row.owner : row.use,
            .transposed = row.transposed};
}

// A bias has the width of the module's output; a norm's bias stays a norm's.
Parameter bias_of(const Row& row, const Parameter& weight) {
    const bool of_norm = row.use == ParameterUse::norm || row.use == ParameterUse::embedding_norm;
    return {.name = std::string(row.name) + ".bias",
            .shape = {row.transposed ? weight.shape.back() : weight.shape.front()},
            .use = of_norm ? ParameterUse::norm_bias : ParameterUse::bias,
            .owner = row.use};
}
}  // namespace

std::vector<Parameter> expand(Rows rows, const Widths& widths, Traits traits) {
    std::vector<Parameter> parameters;
    for (const auto& row : rows) {
        if (!holds(row.when, traits)) continue;
        parameters.push_back(weight_of(row, widths));
        if (holds(row.bias, traits)) parameters.push_back(bias_of(row, Parameter(parameters.back())));
    }
    return parameters;
}

}  // namespace wirewise
