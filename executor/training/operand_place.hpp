// Which bytes of its buffer a rank's operand is, and which part of a collective's buffer a member's is: the
// same for every backend.
#pragma once

#include "executor/training/rank_group.hpp"

namespace wirewise {

// Bytes [offset, offset + bytes) of the operand's buffer, the own share of member `shard` resolved.
struct OperandRange {
    std::int64_t offset = 0, bytes = 0;
};
inline OperandRange range_of(const StepProgram& program, const Operand& operand, int shard) {
    OperandRange range{operand.offset.count(), operand.bytes.count()};
    if (operand.own_share) {
        range.bytes /= program.axis_sizes[static_cast<std::size_t>(Axis::shard)];
        range.offset += range.bytes * shard;
    }
    return range;
}

// The member at this distance, cyclic.
inline int around_ring(int member, int offset, int size) { return ((member + offset) % size + size) % size; }

// In place as NCCL has it: the small side is the member's own part of the large one.
inline void narrow_in_place(CollectiveCall& call, Bytes bytes, int size, int member) {
    const std::int64_t own = bytes.count() / size * member;
    if (call.kind == CollectiveKind::all_gather) call.send += own;
    if (call.kind == CollectiveKind::reduce_scatter) call.receive += own;
}

}  // namespace wirewise
