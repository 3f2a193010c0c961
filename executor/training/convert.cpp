#include "executor/training/convert.hpp"

#include <cstring>

namespace wirewise {

namespace {

// fp16 by way of the compiler's own type: conversions are exact, or rounded to nearest even.
using Half = _Float16;
static_assert(sizeof(Half) == 2);

template <class Stored>
Stored load(const std::byte* from, std::size_t index) {
    Stored value;
    std::memcpy(&value, from + index * sizeof(Stored), sizeof(Stored));
    return value;
}

template <class Stored>
void store(std::byte* to, std::size_t index, Stored value) {
    std::memcpy(to + index * sizeof(Stored), &value, sizeof(Stored));
}

}  // namespace

bool is_floating(DType type) { return type == DType::fp32 || type == DType::bf16 || type == DType::fp16; }

void widen(const std::byte* from, DType type, std::span<float> values) {
    ensure(is_floating(type), "only floating-point values widen");
    if (values.empty()) return;
    if (type == DType::fp32) {
        std::memcpy(values.data(), from, values.size_bytes());
    } else if (type == DType::bf16) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = from_bf16(load<std::uint16_t>(from, i));
    } else {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(load<Half>(from, i));
    }
}

void narrow(std::span<const float> values, DType type, std::byte* to) {
    ensure(is_floating(type), "only floating-point values narrow");
    if (values.empty()) return;
    if (type == DType::fp32) {
        std::memcpy(to, values.data(), values.size_bytes());
    } else if (type == DType::bf16) {
        for (std::size_t i = 0; i < values.size(); ++i) store(to, i, to_bf16(values[i]));
    } else {
        for (std::size_t i = 0; i < values.size(); ++i) store(to, i, static_cast<Half>(values[i]));
    }
}

}  // namespace wirewise
