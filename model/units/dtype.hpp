// Number formats of tensors. The name is the one used on the command line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/units/quantity.hpp"

namespace wirewise {

enum class DType : std::uint8_t { fp32, bf16, fp16, fp8, int8, int32, int64, boolean };

constexpr std::int64_t size_of(DType type) {
    constexpr std::array<std::int64_t, 8> sizes{4, 2, 2, 1, 1, 4, 8, 1};
    return sizes[static_cast<std::size_t>(type)];
}

constexpr std::string_view name_of(DType type) {
    constexpr std::array<std::string_view, 8> names{"fp32", "bf16", "fp16",  "fp8",
                                                    "int8", "int32", "int64", "bool"};
    return names[static_cast<std::size_t>(type)];
}

// The bytes of `elements` values. Throws OverflowError beyond 2^63.
constexpr Bytes bytes_of(std::int64_t elements, DType type) { return Bytes(elements) * size_of(type); }

// "bf16", "bfloat16", "float32", "fp32", ... ; nothing for an unknown name.
std::optional<DType> dtype_from(std::string_view name);

}  // namespace wirewise
