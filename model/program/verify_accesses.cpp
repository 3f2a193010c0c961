// The checks on the bytes that ops read and write.
#include <fmt/format.h>

#include <algorithm>

#include "model/program/verify_checks.hpp"

namespace wirewise {

namespace {

bool reads(const Operand& operand) { return operand.access != Access::write; }
bool writes(const Operand& operand) { return operand.access != Access::read; }

}  // namespace

AccessCheck::AccessCheck(const StepProgram& program)
    : program_(program), released_at_(program.buffers.size(), 0) {
    histories_.reserve(program.buffers.size());
    for (const Buffer& buffer : program.buffers)
        histories_.emplace_back(buffer.bytes.count(), buffer.lifetime == Lifetime::persistent);
}

// Reads come before writes, in whatever order the op lists them.
void AccessCheck::visit(std::size_t index, const StreamOrder& order, FaultNotes& notes) {
    const Op& op = program_.ops[index];
    const auto operands = program_.operands_of(op);
    for (const Operand& operand : operands) mention(operand, index, notes);
    if (std::holds_alternative<Release>(op.payload))
        for (const Operand& operand : operands)
            released_at_[index_of(operand.buffer)] = static_cast<std::uint32_t>(index + 1);
    if (!touches_bytes(op)) return;
    for (const Operand& operand : operands)
        if (in_range(operand, index, notes) && reads(operand)) read(operand, index, order, notes);
    for (const Operand& operand : operands)
        if (writes(operand)) write(operand, index, order, notes);
}

void AccessCheck::mention(const Operand& operand, std::size_t index, FaultNotes& notes) {
    const std::uint32_t released = released_at_[index_of(operand.buffer)];
    if (released != 0)
        notes.add(FaultKind::used_after_release, index,
                  fmt::format("names {}, which op {} released", buffer_text(program_, operand.buffer),
                              released - 1));
}

bool AccessCheck::in_range(const Operand& operand, std::size_t index, FaultNotes& notes) const {
    const Bytes size = program_.at(operand.buffer).bytes;
    const int ranks = operand.own_share ? program_.axis_sizes[static_cast<std::size_t>(Axis::shard)] : 1;
    const bool inside = operand.offset >= Bytes(0) && operand.bytes >= Bytes(0) && operand.offset <= size &&
                        operand.bytes <= size - operand.offset;
    if (inside && operand.bytes.count() % ranks == 0) return true;
    notes.add(FaultKind::operand_out_of_range, index,
              fmt::format("uses {} bytes at {} of {}, which holds {}{}", operand.bytes.count(),
                          operand.offset.count(), buffer_text(program_, operand.buffer), size.count(),
                          inside ? fmt::format("; they have no {} equal shares", ranks) : ""));
    return inside;
}

bool AccessCheck::follows(std::size_t index, std::uint32_t earlier, const StreamOrder& order) const {
    const StreamId here = program_.ops[index].stream, there = program_.ops[earlier].stream;
    return here == there || order.follows(here, there, earlier);
}

void AccessCheck::note_conflict(const Operand& operand, std::size_t index, std::uint32_t other,
                                FaultNotes& notes) const {
    notes.add(FaultKind::unordered_conflict, index,
              fmt::format("{} {} on stream {} without waiting for op {} on stream {}",
                          writes(operand) ? "writes" : "reads", buffer_text(program_, operand.buffer),
                          program_.streams[index_of(program_.ops[index].stream)].name, other,
                          program_.streams[index_of(program_.ops[other].stream)].name));
}

// At most one fault of a kind per operand: the first range tells enough.
void AccessCheck::read(const Operand& operand, std::size_t index, const StreamOrder& order,
                       FaultNotes& notes) {
    const auto [begin, end] = inside_buffer(program_, operand);
    bool all_written = true;
    std::uint32_t unordered = AccessHistory::kNone;
    for (AccessHistory::Range& range : histories_[index_of(operand.buffer)].within(begin, end)) {
        all_written &= range.written;
        if (range.writer != AccessHistory::kNone && !follows(index, range.writer, order))
            unordered = range.writer;
        const auto same_stream = std::find_if(
            range.readers.begin(), range.readers.end(),
            [&](std::uint32_t reader) { return program_.ops[reader].stream == program_.ops[index].stream; });
        if (same_stream == range.readers.end())
            range.readers.push_back(static_cast<std::uint32_t>(index));
        else
            *same_stream = static_cast<std::uint32_t>(index);
    }
    if (!all_written)
        notes.add(FaultKind::read_before_write, index,
                  fmt::format("reads {}, of which nothing wrote all these bytes",
                              buffer_text(program_, operand.buffer)));
    // An update is judged once, as the write it is.
    if (unordered != AccessHistory::kNone && !writes(operand))
        note_conflict(operand, index, unordered, notes);
}

void AccessCheck::write(const Operand& operand, std::size_t index, const StreamOrder& order,
                        FaultNotes& notes) {
    const auto [begin, end] = inside_buffer(program_, operand);
    AccessHistory& history = histories_[index_of(operand.buffer)];
    std::uint32_t unordered = AccessHistory::kNone;
    for (const AccessHistory::Range& range : history.within(begin, end)) {
        if (range.writer != AccessHistory::kNone && !follows(index, range.writer, order))
            unordered = range.writer;
        for (const std::uint32_t reader : range.readers)
            if (!follows(index, reader, order)) unordered = reader;
    }
    if (unordered != AccessHistory::kNone) note_conflict(operand, index, unordered, notes);
    history.overwrite(begin, end, static_cast<std::uint32_t>(index));
}

}  // namespace wirewise
