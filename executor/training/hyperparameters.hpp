// What a run decides beside the plan: the numbers that the update uses.
#pragma once

namespace wirewise {

struct Hyperparameters {
    double learning_rate = 1e-3;
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
    double weight_decay = 0.1;     // decoupled, on every parameter
    double max_gradient_norm = 0;      // used where the plan clips gradients
    bool stochastic_rounding = false;  // of bf16 parameters that have no master copy, else to nearest
};

}  // namespace wirewise
