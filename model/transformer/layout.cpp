#include "model/transformer/layout.hpp"

#include <string>

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

std::string numbered(std::string_view name, std::int64_t index) {
    std::string text(name);
    const auto mark = text.find('#');
    return mark == std::string::npos ? text : text.replace(mark, 1, std::to_string(index));
}

Parameter weight_of(const Row& row, const std::string& module, const Widths& widths) {
    return {.name = module + (row.bare ? "" : ".weight"),
            .shape = shape_of(row, widths),
            .use = row.use,
            .owner = row.use == ParameterUse::bias ? row.owner : row.use,
            .transposed = row.transposed};
}

// A bias is as wide as the module's output; a norm's bias stays a norm's.
Parameter bias_of(const Row& row, const std::string& module, const std::vector<std::int64_t>& weight) {
    const bool of_norm = row.use == ParameterUse::norm || row.use == ParameterUse::embedding_norm;
    return {.name = module + ".bias",
            .shape = {row.transposed ? weight.back() : weight.front()},
            .use = of_norm ? ParameterUse::norm_bias : ParameterUse::bias,
            .owner = row.use};
}
}  // namespace

std::vector<Parameter> expand(Rows rows, const Widths& widths, Traits traits) {
    std::vector<Parameter> parameters;
    for (const auto& row : rows) {
        if (!holds(row.when, traits)) continue;
        const auto repeats = row.repeat == Width::none ? 1 : widths[row.repeat];
        for (std::int64_t index = 0; index < repeats; ++index) {
            const std::string module = numbered(row.name, index);
            parameters.push_back(weight_of(row, module, widths));
            if (holds(row.bias, traits)) parameters.push_back(bias_of(row, module, parameters.back().shape));
        }
    }
    return parameters;
}

}  // namespace wirewise
