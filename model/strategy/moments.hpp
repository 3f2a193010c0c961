// What an optimizer keeps of every parameter it updates, beside a master copy.
#pragma once

#include "model/program/kernel.hpp"

namespace wirewise {

// AdamW keeps two moments, SGD (without momentum) none.
constexpr int moment_count(OptimizerKind kind) { return kind == OptimizerKind::sgd ? 0 : 2; }

// 8-bit AdamW stores bytes whatever dtype was asked for.
constexpr DType moment_type(OptimizerKind kind, DType state) {
    return kind == OptimizerKind::adamw_8bit ? DType::int8 : state;
}

// One moment of `count` parameters; in 8 bits with the fp32 scale of each block of 256 values (bitsandbytes'
// block-wise quantisation).
constexpr Bytes moment_bytes(std::int64_t count, OptimizerKind kind, DType state) {
    constexpr std::int64_t kBlock = 256;
    const Bytes values = bytes_of(count, moment_type(kind, state));
    if (kind != OptimizerKind::adamw_8bit) return values;
    return values + bytes_of((count + kBlock - 1) / kBlock, DType::fp32);
}

}  // namespace wirewise
