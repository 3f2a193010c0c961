#include "executor/training/seeded_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "executor/training/random.hpp"
#include "model/program/hash.hpp"

namespace wirewise {

namespace {

constexpr double kDeviation = 0.02;

// Box and Muller's transform of two draws per element.
float normal(std::uint64_t stream, std::uint64_t index) {
    const double radius = std::sqrt(-2 * std::log(unit_interval(random_bits(stream, 2 * index))));
    const double angle = 2 * std::numbers::pi * unit_interval(random_bits(stream, 2 * index + 1));
    return static_cast<float>(kDeviation * radius * std::cos(angle));
}

bool is_norm(ParameterUse use) {
    return use == ParameterUse::norm || use == ParameterUse::head_norm || use == ParameterUse::embedding_norm;
}
bool is_bias(ParameterUse use) { return use == ParameterUse::bias || use == ParameterUse::norm_bias; }

}  // namespace

std::optional<DrawnValues> SeededWeights::drawn(const UnitTensor& tensor) const {
    const ParameterUse use = tensor.parameter->use;
    if (is_norm(use)) return DrawnValues{.constant = 1};
    if (is_bias(use)) return DrawnValues{.constant = 0};
    Hash stream;
    stream.add(seed_);
    stream.add(tensor.name);
    return DrawnValues{.deviation = kDeviation, .stream = stream.value()};
}

void SeededWeights::read(const UnitTensor& tensor, std::int64_t first, std::span<float> values) const {
    const DrawnValues rule = *drawn(tensor);
    if (rule.deviation == 0) return std::fill(values.begin(), values.end(), rule.constant);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = normal(rule.stream, static_cast<std::uint64_t>(first) + i);
}

}  // namespace wirewise
