#include "executor/host/kernels/update.hpp"

#include <algorithm>
#include <cmath>

namespace wirewise::host {

void adamw(const Hyperparameters& numbers, std::int64_t step, const AdamWOperands& operands) {
    const double t = static_cast<double>(step);
    const double correction1 = 1 - std::pow(numbers.beta1, t);
    const double correction2 = 1 - std::pow(numbers.beta2, t);
    const auto beta1 = static_cast<float>(numbers.beta1), beta2 = static_cast<float>(numbers.beta2);
    const auto rest1 = static_cast<float>(1 - numbers.beta1), rest2 = static_cast<float>(1 - numbers.beta2);
    const auto decay = static_cast<float>(1 - numbers.learning_rate * numbers.weight_decay);
    const auto step_size = static_cast<float>(numbers.learning_rate / correction1);
    const auto root_correction = static_cast<float>(1 / std::sqrt(correction2));
    const auto epsilon = static_cast<float>(numbers.epsilon);
    const float factor = operands.clip_factor ? *operands.clip_factor : 1.0F;
    float* const target = operands.master ? operands.master : operands.parameter;
    for (std::int64_t i = 0; i < operands.count; ++i) {
        const float gradient = operands.gradient[i] * factor;
        const float m = operands.first[i] = beta1 * operands.first[i] + rest1 * gradient;
        const float v = operands.second[i] = beta2 * operands.second[i] + rest2 * gradient * gradient;
        target[i] = target[i] * decay - step_size * m / (std::sqrt(v) * root_correction + epsilon);
        if (operands.rounding.on) target[i] = rounded_at_random(target[i], operands.rounding.bits(i));
    }
    if (operands.master) std::copy_n(operands.master, operands.count, operands.parameter);
}

double squared_norm(const float* values, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
        sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return sum;
}

float clip_factor(float squared_norm, double max_norm) {
    const double norm = std::sqrt(static_cast<double>(squared_norm));
    return static_cast<float>(std::min(1.0, max_norm / (norm + 1e-6)));
}

}  // namespace wirewise::host
