#include "executor/host/kernels/activation.hpp"

#include <cmath>
#include <numbers>

namespace wirewise::host {

namespace {

struct ValueAndSlope {
    float value, slope;
};

ValueAndSlope silu(float x) {
    const float sigmoid = 1.0F / (1.0F + std::exp(-x));
    return {x * sigmoid, sigmoid * (1.0F + x * (1.0F - sigmoid))};
}

ValueAndSlope gelu(float x) {
    const float cumulative = 0.5F * (1.0F + std::erf(x * static_cast<float>(std::numbers::sqrt2 / 2)));
    const float density =
        std::exp(-0.5F * x * x) * static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return {x * cumulative, cumulative + x * density};
}

// Hendrycks and Gimpel, Gaussian error linear units (2016): the tanh form.
ValueAndSlope gelu_tanh(float x) {
    const auto factor = static_cast<float>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    const float t = std::tanh(factor * (x + 0.044715F * x * x * x));
    const float inner_slope = factor * (1.0F + 3 * 0.044715F * x * x);
    return {0.5F * x * (1.0F + t), 0.5F * (1.0F + t) + 0.5F * x * (1.0F - t * t) * inner_slope};
}

ValueAndSlope relu(float x) { return x > 0 ? ValueAndSlope{x, 1} : ValueAndSlope{0, 0}; }
ValueAndSlope relu_squared(float x) { return x > 0 ? ValueAndSlope{x * x, 2 * x} : ValueAndSlope{0, 0}; }

template <class Function>
void forward(const ActivationShape& shape, const float* expanded, float* product, Function function) {
    const std::int64_t n = shape.columns, width = shape.gated ? 2 * n : n;
    for (std::int64_t r = 0; r < shape.rows; ++r, expanded += width, product += n)
        for (std::int64_t c = 0; c < n; ++c)
            product[c] = function(expanded[c]).value * (shape.gated ? expanded[n + c] : 1.0F);
}

template <class Function>
void backward(const ActivationShape& shape, const float* dproduct, float* expanded, Function function) {
    const std::int64_t n = shape.columns, width = shape.gated ? 2 * n : n;
    for (std::int64_t r = 0; r < shape.rows; ++r, expanded += width, dproduct += n)
        for (std::int64_t c = 0; c < n; ++c) {
            const ValueAndSlope at = function(expanded[c]);
            expanded[c] = dproduct[c] * at.slope * (shape.gated ? expanded[n + c] : 1.0F);
            if (shape.gated) expanded[n + c] = dproduct[c] * at.value;
        }
}

template <class Use>
void with_function(ActivationKind kind, const Use& use) {
    switch (kind) {
        case ActivationKind::silu:
            return use(silu);
        case ActivationKind::gelu:
            return use(gelu);
        case ActivationKind::gelu_tanh:
            return use(gelu_tanh);
        case ActivationKind::relu:
            return use(relu);
        case ActivationKind::relu_squared:
            return use(relu_squared);
    }
}

}  // namespace

void activation_forward(const ActivationShape& shape, const float* expanded, float* product) {
    with_function(shape.kind, [&](auto function) { forward(shape, expanded, product, function); });
}

void activation_backward(const ActivationShape& shape, const float* product_gradient, float* expanded) {
    with_function(shape.kind, [&](auto function) { backward(shape, product_gradient, expanded, function); });
}

}  // namespace wirewise::host
