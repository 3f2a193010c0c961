#include "model/strategy/pytorch/weights.hpp"

namespace wirewise {

namespace {

Weight weight_of(const Parameter& parameter, Unit unit) {
    Weight weight{&parameter, unit, 1, 1};
    const auto& shape = parameter.shape;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) weight.rows *= shape[i];
    if (!shape.empty()) weight.columns = shape.back();
    if (parameter.transposed && shape.size() == 2) std::swap(weight.rows, weight.columns);
    return weight;
}

}  // namespace

WeightTable::WeightTable(const Transformer& model) {
    add(model.root_before, {});
    for (std::int32_t layer = 0; layer < model.layer_count(); ++layer) {
        first_of_layer_.push_back(weights_.size());
        add(model.layer(layer).parameters, {layer});
    }
    first_of_layer_.push_back(weights_.size());
    add(model.root_after, {});
}

void WeightTable::add(const std::vector<Parameter>& parameters, Unit unit) {
    for (const Parameter& parameter : parameters) weights_.push_back(weight_of(parameter, unit));
}

std::vector<WeightId> WeightTable::of(Unit unit) const {
    std::vector<WeightId> result;
    const auto append = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) result.push_back(static_cast<WeightId>(i));
    };
    if (unit.root()) {
        append(0, first_of_layer_.front());
        append(first_of_layer_.back(), weights_.size());
    } else {
        const auto layer = static_cast<std::size_t>(unit.layer);
        append(first_of_layer_[layer], first_of_layer_[layer + 1]);
    }
    return result;
}

template <class Matches>
std::optional<WeightId> WeightTable::find_if(Unit unit, Matches&& matches) const {
    const bool root = unit.root();
    const std::size_t layer = root ? 0 : static_cast<std::size_t>(unit.layer);
    const std::size_t begin = root ? 0 : first_of_layer_[layer];
    const std::size_t end = root ? weights_.size() : first_of_layer_[layer + 1];
    for (std::size_t i = begin; i < end; ++i) {
        if (root && i == first_of_layer_.front()) i = first_of_layer_.back();
        if (i == end) break;
        if (matches(*weights_[i].parameter)) return static_cast<WeightId>(i);
    }
    return std::nullopt;
}

std::optional<WeightId> WeightTable::find(Unit unit, ParameterUse use, int nth) const {
    return find_if(unit, [&](const Parameter& parameter) { return parameter.use == use && nth-- == 0; });
}

std::optional<WeightId> WeightTable::find_bias(Unit unit, ParameterUse owner) const {
    return find_if(unit, [&](const Parameter& parameter) {
        return parameter.use == ParameterUse::bias && parameter.owner == owner;
    });
}

}  // namespace wirewise
