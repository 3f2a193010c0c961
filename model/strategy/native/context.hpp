// What all parts of our runtime's emission share.
#pragma once

#include "model/strategy/native/layout.hpp"

namespace wirewise {

// Compute runs kernels; gather fills weights ahead of use; reduce takes gradients away behind it; replicate
// is HSDP's second axis, so that it overlaps with the next reduce-scatter.
struct NativeStreams {
    StreamId compute{}, gather{}, reduce{}, replicate{};
};

struct NativeContext {
    Emission& emission;
    ModelLayout layout;
    NativeStreams streams;
    Sharding sharding;

    NativeContext(Emission& shared);

    ProgramBuilder& build() const { return emission.build; }
    const ParallelPlan& plan() const { return emission.plan; }
    const Transformer& model() const { return emission.model; }
    int shards() const { return plan().mesh.shard; }
    std::int64_t tokens() const { return plan().tokens_per_micro_batch(); }
    DType compute_type() const { return plan().precision.compute; }
    std::vector<Unit> units() const;  // the root, then the layers
};

// The part of a flat buffer that a slice names.
inline Operand part(BufferId buffer, Slice slice, DType type, Access access) {
    return {buffer, access, false, bytes_of(slice.offset, type), bytes_of(slice.count, type)};
}

}  // namespace wirewise
