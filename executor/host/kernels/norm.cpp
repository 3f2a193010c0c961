#include "executor/host/kernels/norm.hpp"

#include <cmath>

namespace wirewise::host {

namespace {

float weight_at(const float* weight, std::int64_t column) { return weight ? weight[column] : 1.0F; }

struct RowStatistics {
    float rstd, mean;
};

RowStatistics measure(const float* x, std::int64_t columns, bool centred, float epsilon) {
    float sum = 0, squares = 0;
    if (centred)
        for (std::int64_t c = 0; c < columns; ++c) sum += x[c];
    const float mean = sum / static_cast<float>(columns);
    for (std::int64_t c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
    return {1.0F / std::sqrt(squares / static_cast<float>(columns) + epsilon), mean};
}

void normalize(const float* x, RowStatistics row, const float* weight, const float* bias,
               std::int64_t columns, float* y) {
    for (std::int64_t c = 0; c < columns; ++c)
        y[c] = (x[c] - row.mean) * row.rstd * weight_at(weight, c) + (bias ? bias[c] : 0.0F);
}

// For g = dy x weight and normed x: what every column of the row loses.
struct RowCorrection {
    float along_x, mean;  // mean of g x normed x; mean of g (LayerNorm)
};

RowCorrection correct(const float* dy, const float* x, RowStatistics row, const float* weight, bool centred,
                      std::int64_t columns) {
    float along_x = 0, sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
        const float g = dy[c] * weight_at(weight, c);
        along_x += g * (x[c] - row.mean) * row.rstd;
        sum += g;
    }
    const auto n = static_cast<float>(columns);
    return {along_x / n, centred ? sum / n : 0.0F};
}

float input_gradient(float g, float normed, RowStatistics row, RowCorrection correction) {
    return row.rstd * (g - correction.mean - normed * correction.along_x);
}

}  // namespace

void norm_forward(const NormShape& shape, const float* x, const float* weight, const float* bias, float* y,
                  float* statistics) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
        const RowStatistics row = measure(x + r * shape.columns, shape.columns, shape.layer, shape.epsilon);
        statistics[r] = row.rstd;
        if (shape.layer) statistics[shape.rows + r] = row.mean;
        normalize(x + r * shape.columns, row, weight, bias, shape.columns, y + r * shape.columns);
    }
}

void norm_recompute(const NormShape& shape, const float* x, const float* weight, const float* bias,
                    const float* statistics, float* y) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
        const RowStatistics row{statistics[r], shape.layer ? statistics[shape.rows + r] : 0.0F};
        normalize(x + r * shape.columns, row, weight, bias, shape.columns, y + r * shape.columns);
    }
}

void norm_backward(const NormShape& shape, const float* dy, const float* x, const float* weight,
                   const float* statistics, float* dx, float* weight_gradient, float* bias_gradient) {
    for (std::int64_t r = 0; r < shape.rows;
         ++r, dy += shape.columns, x += shape.columns, dx += shape.columns) {
        const RowStatistics row{statistics[r], shape.layer ? statistics[shape.rows + r] : 0.0F};
        const RowCorrection correction = correct(dy, x, row, weight, shape.layer, shape.columns);
        for (std::int64_t c = 0; c < shape.columns; ++c) {
            const float normed = (x[c] - row.mean) * row.rstd;
            dx[c] += input_gradient(dy[c] * weight_at(weight, c), normed, row, correction);
            if (weight_gradient) weight_gradient[c] += dy[c] * normed;
            if (bias_gradient) bias_gradient[c] += dy[c];
        }
    }
}

void head_norm_forward(const HeadNormShape& shape, const float* x, std::int64_t x_stride, const float* weight,
                       float* y, std::int64_t y_stride, float* statistics) {
    const std::int64_t d = shape.head_dim, heads = shape.heads + shape.kv_heads;
    for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            const float* const head = x + r * x_stride + h * d;
            const RowStatistics row = measure(head, d, false, shape.epsilon);
            statistics[r * heads + h] = row.rstd;
            normalize(head, row, weight + (h < shape.heads ? 0 : d), nullptr, d, y + r * y_stride + h * d);
        }
}

void head_norm_backward(const HeadNormShape& shape, float* gradient, std::int64_t gradient_stride,
                        const float* x, std::int64_t x_stride, const float* weight, const float* statistics,
                        float* weight_gradient) {
    const std::int64_t d = shape.head_dim, heads = shape.heads + shape.kv_heads;
    for (std::int64_t r = 0; r < shape.rows; ++r)
        for (std::int64_t h = 0; h < heads; ++h) {
            float* const g = gradient + r * gradient_stride + h * d;
            const float* const head = x + r * x_stride + h * d;
            const std::int64_t which = h < shape.heads ? 0 : d;
            const RowStatistics row{statistics[r * heads + h], 0.0F};
            const RowCorrection correction = correct(g, head, row, weight + which, false, d);
            for (std::int64_t c = 0; c < d; ++c) {
                const float normed = head[c] * row.rstd;
                weight_gradient[which + c] += g[c] * normed;
                g[c] = input_gradient(g[c] * weight[which + c], normed, row, correction);
            }
        }
}

}  // namespace wirewise::host
