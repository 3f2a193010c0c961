// A profile of round numbers and collectives of stated cost, so that tests can be computed by hand: a vector
// kernel of n bytes takes n picoseconds, a collective of n bytes n picoseconds and the channels given.
#pragma once

#include "model/program/builder.hpp"
#include "simulator/simulate.hpp"

namespace wirewise {

inline CostProfile round_profile() {
    CostProfile p;
    p.name = p.gpu = "round";
    p.multiprocessors = 100;
    p.gemm.rate = {{DType::bf16, FlopsPerSecond(1e12)},
                   {DType::fp16, FlopsPerSecond(1e12)},
                   {DType::fp32, FlopsPerSecond(1e12)}};
    p.gemm.small_tile_penalty = 100;
    p.attention.forward = p.attention.backward = {{0.0, FlopsPerSecond(1e12)}};
    const BytesPerSecond byte_per_picosecond(1e12);
    p.memory = {byte_per_picosecond, byte_per_picosecond, byte_per_picosecond, 1e30,
                Seconds(0),          Seconds(0),          Seconds(0)};
    p.optimizer = {byte_per_picosecond, 1e30, 1};
    p.copy = {byte_per_picosecond, byte_per_picosecond, byte_per_picosecond, Seconds(0)};
    return p;
}

inline CollectiveCost byte_costs(int channels = 0) {
    return [channels](Axis, CollectiveKind, Bytes bytes) {
        CollectivePrice price{};
        price.seconds = to_seconds(Instant(bytes.count()));
        price.transport = "p2p";
        price.channels = channels;
        return price;
    };
}

inline Pointwise vector_kernel(std::int64_t picoseconds) { return {.traffic = Bytes(picoseconds)}; }
inline Collective gather(std::int64_t picoseconds, Axis axis = Axis::shard) {
    return {CollectiveKind::all_gather, axis, DType::bf16, Bytes(picoseconds), false};
}

}  // namespace wirewise
