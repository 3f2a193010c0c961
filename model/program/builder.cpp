#include "model/program/builder.hpp"

#include <limits>

namespace wirewise {

namespace {

// Room for a common program, so that building one seldom moves what is already written.
constexpr std::size_t kCommonOps = 4096;
constexpr std::size_t kCommonOperands = 4 * kCommonOps;

}  // namespace

ProgramBuilder::ProgramBuilder(Phase phase, FreeRule rule) : texts_(std::make_shared<Texts>()) {
    program_.phase = phase;
    program_.free_rule = rule;
    program_.texts = texts_;
    program_.ops.reserve(kCommonOps);
    program_.operands.reserve(kCommonOperands);
    program_.buffers.reserve(kCommonOps);
    program_.kernels.reserve(128);
}

StreamId ProgramBuilder::stream(std::string_view name, StreamKind kind) {
    ensure(program_.streams.size() < std::numeric_limits<std::uint8_t>::max(),
           "a program has at most 255 streams");
    program_.streams.push_back({name, kind});
    return static_cast<StreamId>(program_.streams.size() - 1);
}

BufferId ProgramBuilder::add_buffer(const Buffer& buffer) {
    ensure(buffer.bytes >= Bytes(0), "a buffer has no negative size");
    program_.buffers.push_back(buffer);
    return static_cast<BufferId>(program_.buffers.size() - 1);
}
BufferId ProgramBuilder::transient(std::string_view name, Bytes bytes, DType dtype, Role role,
                                   StreamId home) {
    return add_buffer({{name, layer_}, bytes, dtype, role, Lifetime::transient, home});
}
BufferId ProgramBuilder::persistent(std::string_view name, Bytes bytes, DType dtype, Role role,
                                    StreamId home) {
    return add_buffer({{name, layer_}, bytes, dtype, role, Lifetime::persistent, home});
}

BufferId ProgramBuilder::on_host(Lifetime lifetime, std::string_view name, Bytes bytes, DType dtype,
                                 Role role, StreamId home) {
    return add_buffer({{name, layer_}, bytes, dtype, role, lifetime, home, MemorySpace::host});
}

std::string_view ProgramBuilder::intern(std::string text) { return *texts_->insert(std::move(text)).first; }

KernelId ProgramBuilder::kernel_id(const Kernel& kernel) {
    const auto [entry, fresh] =
        kernel_ids_.try_emplace(kernel, static_cast<KernelId>(program_.kernels.size()));
    if (fresh) program_.kernels.push_back(kernel);
    return entry->second;
}

OpId ProgramBuilder::add_op(const Payload& payload, std::string_view name, StreamId stream,
                            Operands operands) {
    const auto first = static_cast<std::uint32_t>(program_.operands.size());
    program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
    program_.ops.push_back({payload,
                            {name, layer_},
                            stream,
                            section_,
                            micro_batch_,
                            first,
                            static_cast<std::uint32_t>(operands.size())});
    return static_cast<OpId>(program_.ops.size() - 1);
}

OpId ProgramBuilder::compute(StreamId stream, std::string_view name, const Kernel& kernel,
                             Operands operands) {
    return add_op(Compute{kernel_id(kernel)}, name, stream, operands);
}
OpId ProgramBuilder::collective(StreamId stream, std::string_view name, const Collective& call,
                                Operands operands) {
    return add_op(call, name, stream, operands);
}
OpId ProgramBuilder::send(StreamId stream, std::string_view name, const Send& send, const Operand& read) {
    return add_op(send, name, stream, Operands(&read, 1));
}
OpId ProgramBuilder::receive(StreamId stream, std::string_view name, const Receive& receive,
                             const Operand& write) {
    return add_op(receive, name, stream, Operands(&write, 1));
}
OpId ProgramBuilder::copy(StreamId stream, std::string_view name, const Copy& copy, Operands operands) {
    return add_op(copy, name, stream, operands);
}
OpId ProgramBuilder::host_work(StreamId stream, std::string_view name, const HostWork& work) {
    return add_op(work, name, stream, {});
}

// Allocate and Release touch no bytes: their operands only name buffers.
void ProgramBuilder::add_mention(const Payload& payload, std::string_view name,
                                 std::span<const BufferId> buffers) {
    add_op(payload, name, StreamId{}, {});
    for (const BufferId id : buffers)
        program_.operands.push_back({id, Access::read, false, Bytes(0), Bytes(0)});
    program_.ops.back().operand_count = static_cast<std::uint32_t>(buffers.size());
}
void ProgramBuilder::allocate(std::span<const BufferId> buffers) {
    add_mention(Allocate{}, "allocate", buffers);
}
void ProgramBuilder::release(std::span<const BufferId> buffers) {
    add_mention(Release{}, "release", buffers);
}

EventId ProgramBuilder::record(StreamId stream) {
    const auto event = static_cast<EventId>(program_.event_count++);
    add_op(Record{event}, "record", stream, {});
    return event;
}
void ProgramBuilder::wait(StreamId stream, EventId event) { add_op(Wait{event}, "wait", stream, {}); }

StepProgram ProgramBuilder::finish() && { return std::move(program_); }

}  // namespace wirewise
