// The update: AdamW with decoupled weight decay (Loshchilov and Hutter 2019), bias-corrected.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"
#include "executor/training/hyperparameters.hpp"

namespace wirewise::cuda {

struct AdamWOperands {
    std::int64_t count = 0;
    Array gradient, parameter, first, second;
    Array master;                        // may be absent; else the parameter is its rounded copy
    const float* clip_factor = nullptr;  // may be null
    // Bits for rounding a bf16 parameter up or down at random (absent: to nearest): the mean of many small
    // updates is then kept. No effect on parameters of another dtype, nor where there is a master copy.
    bool stochastic_rounding = false;
    std::uint64_t random_stream = 0;
};

// `step` counts from 1.
void adamw(const Hyperparameters& numbers, std::int64_t step, const AdamWOperands& operands,
           cudaStream_t stream);

}  // namespace wirewise::cuda
