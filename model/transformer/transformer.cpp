#include "model/transformer/transformer.hpp"

#include <algorithm>
#include <functional>

#include "model/transformer/parts.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

namespace {
// Counts are added with overflow checks: a config may ask for more than 2^63 parameters.
using Count = CheckedInteger<struct CountTag>;

std::int64_t active_count(const Parameter& parameter, const MlpShape& mlp) {
    if (!is_routed_expert(parameter)) return parameter.count();
    return parameter.count() / mlp.experts * mlp.top_k;
}

std::int64_t sum(const std::vector<Parameter>& parameters) {
    Count total;
    for (const auto& parameter : parameters) total += Count(parameter.count());
    return total.count();
}

std::int64_t whole_model(const Transformer& model, std::int64_t (Layer::*count_of)() const) {
    std::vector<std::int64_t> layers_of(model.kinds.size());
    for (auto kind : model.layers) ++layers_of[kind];
    Count total = Count(sum(model.root_before)) + Count(sum(model.root_after));
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind)
        total += Count((model.kinds[kind].*count_of)()) * layers_of[kind];
    return total.count();
}
}  // namespace

std::int64_t Parameter::count() const {
    Count product(1);
    for (auto extent : shape) product *= extent;
    return product.count();
}

std::int64_t Layer::parameter_count() const { return sum(parameters); }

std::int64_t Layer::active_parameter_count() const {
    Count total;
    for (const auto& parameter : parameters) total += Count(active_count(parameter, mlp));
    return total.count();
}

std::int64_t Transformer::parameters() const { return whole_model(*this, &Layer::parameter_count); }

std::int64_t Transformer::active_parameters() const {
    return whole_model(*this, &Layer::active_parameter_count);
}

const Parameter* find(const std::vector<Parameter>& parameters, ParameterUse use) {
    const auto found = std::ranges::find(parameters, use, &Parameter::use);
    return found == parameters.end() ? nullptr : &*found;
}

}  // namespace wirewise
