// Small ops that the ZeRO stages share.
#pragma once

#include "model/strategy/pytorch/context.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise::deepspeed {

// Elements [offset, offset + count) of a flat buffer.
inline Operand part(BufferId buffer, Access access, std::int64_t offset, std::int64_t count, DType type) {
    return {buffer, access, false, bytes_of(offset, type), bytes_of(count, type)};
}

// Reads what is in `operands` and writes the rest: a copy, cat, cast or sum of `count` elements.
inline void flat_op(PytorchContext& context, StreamId stream, std::string_view name, std::int64_t count,
                    Bytes traffic, std::span<const Operand> operands) {
    context.build().compute(stream, name, vector_kernel(1, count, traffic, DType::fp32), operands);
}
inline void flat_op(PytorchContext& context, StreamId stream, std::string_view name, std::int64_t count,
                    Bytes traffic, std::initializer_list<Operand> operands) {
    flat_op(context, stream, name, count, traffic, std::span(operands.begin(), operands.size()));
}

inline Operand whole(PytorchContext& context, const Tensor& tensor, Access access) {
    const BufferId buffer = context.tape.storages.use(tensor, access).buffer;
    return {buffer, access, false, Bytes(0), context.build().at(buffer).bytes};
}

// Drops a tensor that other streams have used, now that the compute stream has joined them.
void let_go(PytorchContext& context, Tensor& tensor);

// The norm of one gradient: a copy in fp64, then its sum of squares.
void gradient_norm(PytorchContext& context, const Operand& gradient, std::int64_t count);

}  // namespace wirewise::deepspeed
