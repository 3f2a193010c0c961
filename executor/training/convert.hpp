// Values of a storage dtype as floats and back, rounded to nearest even as the GPU rounds.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/units/dtype.hpp"

namespace wirewise {

constexpr float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

constexpr std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // NaN
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// True for the dtypes that hold trained numbers: fp32, bf16, fp16.
bool is_floating(DType type);

// Reads values.size() values of `type`; ensures that the type is floating.
void widen(const std::byte* from, DType type, std::span<float> values);
// Writes them, rounded.
void narrow(std::span<const float> values, DType type, std::byte* to);

}  // namespace wirewise
