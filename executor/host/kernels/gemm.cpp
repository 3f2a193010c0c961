#include "executor/host/kernels/gemm.hpp"

#include "executor/host/kernels/matrix.hpp"

namespace wirewise::host {

void gemm_forward(const Gemm& gemm, const float* x, const float* weight, const float* bias,
                  const float* addend, float* y) {
    Matrix result = matrix(y, gemm.m, gemm.n);
    result.noalias() = matrix(x, gemm.m, gemm.k) * matrix(weight, gemm.n, gemm.k).transpose();
    if (bias) result.rowwise() += ConstRowVector(bias, gemm.n);
    if (addend) result += matrix(addend, gemm.m, gemm.n);
}

void gemm_data_gradient(const Gemm& gemm, const float* dy, const float* weight, float* dx) {
    Matrix result = matrix(dx, gemm.m, gemm.n);
    const auto product = matrix(dy, gemm.m, gemm.k) * matrix(weight, gemm.k, gemm.n);
    if (gemm.accumulate)
        result.noalias() += product;
    else
        result.noalias() = product;
}

void gemm_weight_gradient(const Gemm& gemm, const float* dy, const float* x, float* weight_gradient,
                          float* bias_gradient) {
    Matrix result = matrix(weight_gradient, gemm.m, gemm.n);
    const ConstMatrix gradient = matrix(dy, gemm.k, gemm.m);
    const auto product = gradient.transpose() * matrix(x, gemm.k, gemm.n);
    if (gemm.accumulate)
        result.noalias() += product;
    else
        result.noalias() = product;
    if (!bias_gradient) return;
    RowVector bias(bias_gradient, gemm.m);
    if (!gemm.accumulate) bias.setZero();
    for (Eigen::Index row = 0; row < gemm.k; ++row) bias += gradient.row(row);
}

void fix_gemm_blocking() { Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 1 << 20); }

}  // namespace wirewise::host
