#include "executor/training/ring_sum.hpp"

#include <algorithm>

#include "executor/training/convert.hpp"

namespace wirewise {

namespace {

void round_to(DType dtype, std::span<float> values) {
    if (dtype == DType::fp32) return;
    std::array<std::byte, kRingBlock * 2> stored;
    narrow(values, dtype, stored.data());
    widen(stored.data(), dtype, values);
}

}  // namespace

RingPart ring_part(std::int64_t count, int parts, int index) {
    const std::int64_t each = count / parts, longer = count % parts;
    return {each * index + std::min<std::int64_t>(index, longer), each + (index < longer ? 1 : 0)};
}

void load_term(const CollectiveCall& call, std::int64_t first, int members, std::span<float> values) {
    widen(call.send + first * size_of(call.dtype), call.dtype, values);
    if (!call.average || members == 1) return;
    const float scale = 1.0F / static_cast<float>(members);
    for (float& value : values) value *= scale;
    round_to(call.dtype, values);
}

void add_term(DType dtype, std::span<const float> term, std::span<float> total) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += term[i];
    round_to(dtype, total);
}

}  // namespace wirewise
