// The memory-bound kernels of eager PyTorch by how they walk memory. Rates live in the cost profile; the
// classes follow the profiles of measured steps: casts up, per-row factors and rotations are bound by
// elements, sums by their pattern.
#pragma once

#include "model/program/kernel.hpp"

namespace wirewise {

inline Kernel eager_kernel(AccessClass access, std::int64_t rows, std::int64_t columns, Bytes traffic,
                           DType type) {
    Pointwise kernel;
    kernel.kind = PointwiseKind::eager;
    kernel.access = access;
    kernel.rows = rows;
    kernel.columns = columns;
    kernel.traffic = traffic;
    kernel.type = type;
    return kernel;
}
inline Kernel vector_kernel(std::int64_t rows, std::int64_t columns, Bytes traffic, DType type) {
    return eager_kernel(AccessClass::vector, rows, columns, traffic, type);
}
inline Kernel broadcast_kernel(std::int64_t rows, std::int64_t columns, Bytes traffic, DType type) {
    return eager_kernel(AccessClass::broadcast, rows, columns, traffic, type);
}
inline Kernel reduction_kernel(std::int64_t rows, std::int64_t columns, Bytes traffic, DType type) {
    return eager_kernel(AccessClass::reduction, rows, columns, traffic, type);
}

}  // namespace wirewise
