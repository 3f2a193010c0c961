// A Llama of so many parameters, for reports that state no more than a size.
#pragma once

#include <cstdint>
#include <string_view>

namespace wirewise {

struct GenericShape {
    std::int64_t hidden = 0, layers = 0, heads = 0, ffn = 0;
};

// Llama's proportions: width 128 times the depth, heads of 128, an MLP of 8/3 of the width in multiples of
// 256, two tables of `vocabulary` rows; 12 h^2 parameters a layer. `hidden`: where the report states it, else
// 0; the depth follows.
GenericShape llama_of(double parameters, std::int64_t vocabulary, std::int64_t hidden);

// "Qwen3.8-27B" -> 27e9; 0 where the name holds no such size, or that of one expert ("8x7B").
double parameters_in(std::string_view name);

}  // namespace wirewise
