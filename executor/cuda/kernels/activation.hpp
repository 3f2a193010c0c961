// The MLP's activation, gated (gate | up in each row) or plain.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"
#include "model/program/kernel.hpp"

namespace wirewise::cuda {

struct ActivationShape {
    std::int64_t rows = 0, columns = 0;  // of the product
    ActivationKind kind = ActivationKind::silu;
    bool gated = true;
};

void activation_forward(const ActivationShape& shape, const Array& expanded, const Array& product,
                        cudaStream_t stream);
// The gradient of the expanded rows takes their place.
void activation_backward(const ActivationShape& shape, const Array& product_gradient, const Array& expanded,
                         cudaStream_t stream);

}  // namespace wirewise::cuda
