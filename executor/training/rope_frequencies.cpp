#include "executor/training/rope_frequencies.hpp"

#include <cmath>
#include <numbers>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

// Llama 3.1's scaling (Hugging Face transformers, modeling_rope_utils.py, rope_type "llama3"): long waves are
// slowed down by `factor`, short ones kept, and those between blended.
double llama3_scaled(double frequency, const RopeScaling& scaling) {
    const double turns =
        static_cast<double>(scaling.original_max_position) * frequency / (2 * std::numbers::pi);
    if (turns > scaling.high_frequency_factor) return frequency;
    if (turns < scaling.low_frequency_factor) return frequency / scaling.factor;
    const double kept = (turns - scaling.low_frequency_factor) /
                        (scaling.high_frequency_factor - scaling.low_frequency_factor);
    return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

}  // namespace

std::vector<float> rope_frequencies(const Transformer& model, std::int64_t rotary_dim) {
    const RopeScaling& scaling = model.rope_scaling;
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
        const double exponent = 2 * static_cast<double>(i) / static_cast<double>(rotary_dim);
        double frequency = std::pow(model.rope_theta, -exponent);
        if (scaling.kind == "llama3")
            frequency = llama3_scaled(frequency, scaling);
        else if (scaling.kind == "linear")
            frequency /= scaling.factor;
        else if (scaling.kind != "default")
            throw InputError("--model", "RoPE scaling \"" + scaling.kind + "\" is not computed",
                             "run a model with plain, linear or llama3 scaling");
        frequencies.push_back(static_cast<float>(frequency));
    }
    return frequencies;
}

}  // namespace wirewise
