// Values in device memory whose dtype is known when a kernel is launched, not when it is compiled: a kernel
// computes in fp32 and converts where it loads and stores, so that one compiled kernel serves every mixture
// of dtypes.
#pragma once

#include <cstdint>

#include "model/units/dtype.hpp"

namespace wirewise::cuda {

struct Array {
    void* data = nullptr;  // null: absent
    DType type = DType::fp32;

    Array() = default;
    Array(void* values, DType dtype) : data(values), type(dtype) {}
    explicit operator bool() const { return data != nullptr; }
    // Every group of `width` values from a multiple of `width` on can be loaded at once.
    bool aligned_to(int width) const {
        const auto bytes = static_cast<std::uintptr_t>(width * size_of(type));
        return reinterpret_cast<std::uintptr_t>(data) % (bytes < 16 ? bytes : 16) == 0;
    }
};

}  // namespace wirewise::cuda
