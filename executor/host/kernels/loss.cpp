#include "executor/host/kernels/loss.hpp"

#include <algorithm>
#include <cmath>

#include "executor/host/kernels/matrix.hpp"

namespace wirewise::host {

void embedding_forward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns,
                       const float* table, float* x) {
    for (std::int64_t r = 0; r < rows; ++r)
        std::copy_n(table + tokens[r] * columns, columns, x + r * columns);
}

void embedding_backward(const std::int32_t* tokens, std::int64_t rows, std::int64_t columns, const float* dx,
                        float* table_gradient) {
    for (std::int64_t r = 0; r < rows; ++r) {
        float* const row = table_gradient + tokens[r] * columns;
        for (std::int64_t c = 0; c < columns; ++c) row[c] += dx[r * columns + c];
    }
}

void cross_entropy(float* logits, const std::int32_t* targets, std::int64_t rows, std::int64_t vocabulary,
                   float scale, bool gradient, float* loss) {
    double total = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        RowVector row(logits + r * vocabulary, vocabulary);
        const std::int32_t target = targets[r];
        if (target < 0) {
            if (gradient) row.setZero();
            continue;
        }
        const float highest = row.maxCoeff();
        const float sum = (row.array() - highest).exp().sum();
        total += static_cast<double>(highest) + std::log(static_cast<double>(sum)) -
                 static_cast<double>(row[target]);
        if (!gradient) continue;
        row.array() = (row.array() - highest).exp() * (scale / sum);
        row[target] -= scale;
    }
    *loss += static_cast<float>(total * static_cast<double>(scale));
}

}  // namespace wirewise::host
