// Row-major fp32 matrices over memory that somebody else owns.
#pragma once

#include <Eigen/Core>

namespace wirewise::host {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::OuterStride<>;
using Matrix = Eigen::Map<RowMajor, Eigen::Unaligned, Strided>;
using ConstMatrix = Eigen::Map<const RowMajor, Eigen::Unaligned, Strided>;
using RowVector = Eigen::Map<Eigen::RowVectorXf>;
using ConstRowVector = Eigen::Map<const Eigen::RowVectorXf>;

inline Matrix matrix(float* data, Eigen::Index rows, Eigen::Index columns) {
    return {data, rows, columns, Strided(columns)};
}
inline ConstMatrix matrix(const float* data, Eigen::Index rows, Eigen::Index columns) {
    return {data, rows, columns, Strided(columns)};
}

}  // namespace wirewise::host
