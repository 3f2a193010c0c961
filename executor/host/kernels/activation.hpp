// The MLP's activation, gated (gate | up in each row) or plain.
#pragma once

#include "model/program/kernel.hpp"

namespace wirewise::host {

struct ActivationShape {
    std::int64_t rows = 0, columns = 0;  // of the product
    ActivationKind kind = ActivationKind::silu;
    bool gated = true;
};

void activation_forward(const ActivationShape& shape, const float* expanded, float* product);
// The gradient of the expanded rows takes their place.
void activation_backward(const ActivationShape& shape, const float* product_gradient, float* expanded);

}  // namespace wirewise::host
