// The update: AdamW with decoupled weight decay (Loshchilov and Hutter 2019), bias-corrected.
#pragma once

#include <cuda_runtime_api.h>

#include "executor/cuda/kernels/array.hpp"
#include "executor/training/hyperparameters.hpp"
#include "executor/training/random.hpp"

namespace wirewise::cuda {

struct AdamWOperands {
    std::int64_t count = 0;
    Array gradient, parameter, first, second;
    Array master;                        // may be absent; else the parameter is its rounded copy
    const float* clip_factor = nullptr;  // may be null
    RandomRounding rounding;             // of the parameter; on: it is bf16 and there is no master
};

// `step` counts from 1.
void adamw(const Hyperparameters& numbers, std::int64_t step, const AdamWOperands& operands,
           cudaStream_t stream);

}  // namespace wirewise::cuda
