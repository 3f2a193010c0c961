#include "model/program/program.hpp"

#include <fmt/format.h>

#include <array>

namespace wirewise {

namespace {

constexpr std::array<std::string_view, 6> kPhases{"load",        "first_step", "second_step",
                                                  "steady_step", "evaluation", "save"};
constexpr std::array<std::string_view, kRoleCount> kRoles{"parameter",     "master_parameter", "gradient",
                                                          "optimizer",     "activation",       "logits",
                                                          "communication", "workspace"};
constexpr std::array<std::string_view, 4> kStreamKinds{"compute", "communication", "copy", "host"};
constexpr std::array<std::string_view, 3> kAxes{"replicate", "shard", "world"};
constexpr std::array<std::string_view, 2> kSpaces{"device", "host"};
constexpr std::array<std::string_view, 4> kHostWork{"hook", "optimizer_loop", "synchronize", "launches"};
constexpr std::array<std::string_view, 3> kSections{"forward", "backward", "update"};

template <class Names, class Enum>
std::string_view pick(const Names& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

// Operands by access; a part of a buffer is written name[offset+bytes].
std::string operands_text(const StepProgram& program, const Op& op, Access access) {
    std::string text;
    for (const Operand& operand : program.operands_of(op)) {
        if (operand.access != access) continue;
        const Buffer& buffer = program.at(operand.buffer);
        text += fmt::format("{}b{} {}", text.empty() ? "" : ", ", index_of(operand.buffer), buffer.name.text);
        if (operand.bytes != buffer.bytes && operand.bytes != Bytes(0))
            text += fmt::format("[{}+{}]", operand.offset.count(), operand.bytes.count());
        if (operand.own_share) text += " own share";
    }
    return text;
}

std::string operands_text(const StepProgram& program, const Op& op) {
    std::string text = operands_text(program, op, Access::read);
    if (const std::string writes = operands_text(program, op, Access::write); !writes.empty())
        text += (text.empty() ? "-> " : " -> ") + writes;
    if (const std::string updates = operands_text(program, op, Access::update); !updates.empty())
        text += (text.empty() ? "updates " : "; updates ") + updates;
    return text;
}

std::string transfer_text(std::string_view verb, Axis axis, int peer_offset, Bytes bytes) {
    return fmt::format("{} {} peer {:+} {} B", verb, name_of(axis), peer_offset, bytes.count());
}

bool host_only(const Op& op) {
    return std::holds_alternative<Allocate>(op.payload) || std::holds_alternative<Release>(op.payload);
}

std::string op_line(const StepProgram& program, std::size_t index) {
    const Op& op = program.ops[index];
    const std::string_view stream = host_only(op) ? "host" : program.streams[index_of(op.stream)].name;
    std::string line = fmt::format("{} {}.{} {} \"{}\"", index, name_of(op.section), op.micro_batch, stream,
                                   to_text(op.name));
    if (const std::string what = what_of(program, op); !what.empty()) line += " " + what;
    if (const std::string operands = operands_text(program, op); !operands.empty()) line += ": " + operands;
    return line + "\n";
}

std::string buffer_line(const StepProgram& program, std::size_t index) {
    const Buffer& buffer = program.buffers[index];
    return fmt::format("b{} \"{}\" {} {} {} B {}{} on {}{}\n", index, to_text(buffer.name),
                       name_of(buffer.role), name_of(buffer.dtype), buffer.bytes.count(),
                       buffer.space == MemorySpace::host ? "host " : "",
                       buffer.lifetime == Lifetime::persistent ? "persistent" : "transient",
                       program.streams[index_of(buffer.home)].name, buffer.followed ? ", followed" : "");
}

}  // namespace

std::string_view name_of(Phase phase) { return pick(kPhases, phase); }
std::string_view name_of(Role role) { return pick(kRoles, role); }
std::string_view name_of(StreamKind kind) { return pick(kStreamKinds, kind); }
std::string_view name_of(Axis axis) { return pick(kAxes, axis); }
std::string_view name_of(MemorySpace space) { return pick(kSpaces, space); }
std::string_view name_of(HostWorkKind kind) { return pick(kHostWork, kind); }
std::string_view name_of(Section section) { return pick(kSections, section); }

std::string to_text(const Name& name) {
    return name.layer < 0 ? std::string(name.text) : fmt::format("layer {} / {}", name.layer, name.text);
}

std::string what_of(const StepProgram& program, const Op& op) {
    return std::visit(
        Overloaded{
            [&](const Compute& compute) { return to_text(program.at(compute.kernel)); },
            [](const Collective& call) {
                return fmt::format("{} {} {} {} B{}", name_of(call.kind), name_of(call.axis),
                                   name_of(call.dtype), call.bytes.count(), call.average ? " average" : "");
            },
            [](const Send& send) { return transfer_text("send", send.axis, send.peer_offset, send.bytes); },
            [](const Receive& receive) {
                return transfer_text("receive", receive.axis, receive.peer_offset, receive.bytes);
            },
            [](const Copy& copy) {
                return fmt::format("copy {} to {} {} B", name_of(copy.from), name_of(copy.to),
                                   copy.bytes.count());
            },
            [](const Record& record) { return fmt::format("e{}", index_of(record.event)); },
            [](const Wait& wait) { return fmt::format("e{}", index_of(wait.event)); },
            [](const Allocate&) { return std::string(); },
            [](const Release&) { return std::string(); },
            [](const HostWork& work) { return fmt::format("host {} x{}", name_of(work.kind), work.count); },
        },
        op.payload);
}

std::string place_of(const Op& op) {
    const std::string layer = op.name.layer < 0 ? "" : fmt::format("layer {}, ", op.name.layer);
    return fmt::format("{}, micro-batch {}, {}{}", name_of(op.section), op.micro_batch, layer, op.name.text);
}

std::string to_text(const StepProgram& program) {
    std::string text = fmt::format("program {}, memory free {}\n", name_of(program.phase),
                                   program.free_rule == FreeRule::after_join ? "after join" : "at last use");
    for (const Stream& stream : program.streams)
        text += fmt::format("stream {} ({})\n", stream.name, name_of(stream.kind));
    for (std::size_t axis = 0; axis < kAxisCount; ++axis)
        if (program.axis_sizes[axis] > 1)
            text += fmt::format("axis {} of {} ranks\n", kAxes[axis], program.axis_sizes[axis]);
    for (std::size_t i = 0; i < program.buffers.size(); ++i) text += buffer_line(program, i);
    for (std::size_t i = 0; i < program.ops.size(); ++i) text += op_line(program, i);
    return text;
}

}  // namespace wirewise
