#include "model/program/own_kernels.hpp"

namespace wirewise {

std::optional<PointwiseKind> own_kernel(std::string_view name) {
    for (int i = 0; i < static_cast<int>(PointwiseKind::eager); ++i)
        if (const auto kind = static_cast<PointwiseKind>(i); name_of(kind) == name) return kind;
    return std::nullopt;
}

}  // namespace wirewise
