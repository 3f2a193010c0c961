#include "model/units/dtype.hpp"

#include <utility>

namespace wirewise {

std::optional<DType> dtype_from(std::string_view name) {
    constexpr std::pair<std::string_view, DType> spellings[] = {
        {"fp32", DType::fp32},    {"float32", DType::fp32},  {"float", DType::fp32}, {"bf16", DType::bf16},
        {"bfloat16", DType::bf16}, {"fp16", DType::fp16},     {"float16", DType::fp16}, {"half", DType::fp16},
        {"fp8", DType::fp8},      {"float8_e4m3fn", DType::fp8}, {"int8", DType::int8}, {"int32", DType::int32},
        {"int64", DType::int64},  {"bool", DType::boolean}};
    for (const auto& [spelling, type] : spellings)
        if (spelling == name) return type;
    return std::nullopt;
}

}  // namespace wirewise
