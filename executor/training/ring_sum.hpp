// The arithmetic of a ring: which part of a buffer each member ends up with, and how a part is added to at
// every hop. The part that member r ends up with starts at member r + 1 and is added to, hop by hop, until it
// reaches r; every hop rounds to the dtype on the wire, and an average scales what each member puts in by
// 1 / n, as NCCL's ring does. Deterministic: no sum depends on timing or on what carries the bytes.
#pragma once

#include <array>

#include "executor/training/rank_group.hpp"

namespace wirewise {

// Equal parts; where the count does not divide, the first ones are one element longer.
struct RingPart {
    std::int64_t first = 0, count = 0;
};
RingPart ring_part(std::int64_t count, int parts, int index);

constexpr std::int64_t kRingBlock = 512;  // elements summed at a time
using RingBlock = std::array<float, kRingBlock>;

// Up to a block of what a member puts in: elements [first, first + values.size()) of its send buffer.
void load_term(const CollectiveCall& call, std::int64_t first, int members, std::span<float> values);
// total += term, rounded to the dtype on the wire.
void add_term(DType dtype, std::span<const float> term, std::span<float> total);

}  // namespace wirewise
