// What the update computes: AdamW, the gradient norm and the factor that clips it.
#pragma once

#include <cstdint>

#include "executor/training/hyperparameters.hpp"
#include "executor/training/random.hpp"

namespace wirewise::host {

struct AdamWOperands {
    std::int64_t count = 0;
    const float* gradient = nullptr;
    float *parameter = nullptr, *first = nullptr, *second = nullptr;
    float* master = nullptr;             // may be null; else the parameter is its rounded copy
    const float* clip_factor = nullptr;  // may be null
    RandomRounding rounding;             // of the parameter; on: it is bf16 and there is no master
};

// AdamW with decoupled weight decay (Loshchilov and Hutter 2019), bias-corrected; `step` counts from 1.
void adamw(const Hyperparameters& numbers, std::int64_t step, const AdamWOperands& operands);

double squared_norm(const float* values, std::int64_t count);

// max_norm / (norm + 1e-6), at most 1: torch.nn.utils.clip_grad_norm_'s rule.
float clip_factor(float squared_norm, double max_norm);

}  // namespace wirewise::host
