#include "model/program/hash.hpp"
#include "model/program/program.hpp"

namespace wirewise {

namespace {

void add_to(Hash& hash, const Name& name) {
    hash.add(name.text);
    hash.add(name.layer);
}

void add_to(Hash& hash, const Buffer& buffer) {
    add_to(hash, buffer.name);
    hash.add(buffer.bytes.count(), buffer.dtype, buffer.role, buffer.lifetime, buffer.home, buffer.space,
             buffer.followed);
}

void add_to(Hash& hash, const Payload& payload) {
    hash.add(payload.index());
    std::visit(
        Overloaded{
            [&](const Compute& compute) { hash.add(compute.kernel); },
            [&](const Collective& c) { hash.add(c.kind, c.axis, c.dtype, c.bytes.count(), c.average); },
            [&](const Send& send) { hash.add(send.axis, send.peer_offset, send.bytes.count()); },
            [&](const Receive& receive) {
                hash.add(receive.axis, receive.peer_offset, receive.bytes.count());
            },
            [&](const Copy& copy) { hash.add(copy.from, copy.to, copy.bytes.count()); },
            [&](const Record& record) { hash.add(record.event); },
            [&](const Wait& wait) { hash.add(wait.event); },
            [](const Allocate&) {},
            [](const Release&) {},
            [&](const HostWork& work) { hash.add(work.kind, work.count); },
        },
        payload);
}

void add_to(Hash& hash, const StepProgram& program, const Op& op) {
    add_to(hash, op.payload);
    add_to(hash, op.name);
    hash.add(op.stream, op.section, op.micro_batch, op.operand_count);
    for (const Operand& operand : program.operands_of(op))
        hash.add(operand.buffer, operand.access, operand.own_share, operand.offset.count(),
                 operand.bytes.count());
}

}  // namespace

std::uint64_t hash_of(const StepProgram& program) {
    Hash hash;
    hash.add(program.phase, program.free_rule, program.streams.size(), program.buffers.size(),
             program.kernels.size(), program.ops.size());
    for (const int ranks : program.axis_sizes) hash.add(ranks);
    for (const Stream& stream : program.streams) {
        hash.add(stream.name);
        hash.add(stream.kind);
    }
    for (const Buffer& buffer : program.buffers) add_to(hash, buffer);
    for (const Kernel& kernel : program.kernels) hash.add(hash_of(kernel));
    for (const Op& op : program.ops) add_to(hash, program, op);
    return hash.value();
}

}  // namespace wirewise
