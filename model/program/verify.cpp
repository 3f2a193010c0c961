#include "model/program/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/program/verify_checks.hpp"

namespace wirewise {

namespace {

constexpr std::array<std::string_view, 11> kFaultKinds{
    "read_before_write",  "unordered_conflict", "wait_before_record", "freed_early",
    "used_after_release", "double_update",      "missing_update",     "operand_out_of_range",
    "unknown_id",         "wrong_memory",       "collective_mismatch"};

}  // namespace

std::string_view name_of(FaultKind kind) { return kFaultKinds.at(static_cast<std::size_t>(kind)); }

void FaultNotes::add(FaultKind kind, std::size_t op, const std::string& what) {
    const bool in_program = op < program_.ops.size();
    const std::string where =
        in_program ? fmt::format("op {} ({}) ", op, place_of(program_.ops[op])) : "the program ";
    faults_.push_back({kind, static_cast<OpId>(op), where + what});
}

std::vector<Fault> FaultNotes::sorted() && {
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const Fault& a, const Fault& b) { return index_of(a.op) < index_of(b.op); });
    return std::move(faults_);
}

std::string buffer_text(const StepProgram& program, BufferId id) {
    return fmt::format("b{} \"{}\"", index_of(id), to_text(program.at(id).name));
}

ByteRange inside_buffer(const StepProgram& program, const Operand& operand) {
    const std::int64_t most = program.at(operand.buffer).bytes.count();
    const std::int64_t begin = std::clamp<std::int64_t>(operand.offset.count(), 0, most);
    return {begin, begin + std::clamp<std::int64_t>(operand.bytes.count(), 0, most - begin)};
}

std::vector<Fault> verify(const StepProgram& program) {
    FaultNotes notes(program);
    check_ids(program, notes);
    if (!notes.empty()) return std::move(notes).sorted();

    StreamOrder order(program);
    EventCheck events(program);
    AccessCheck accesses(program);
    UpdateCheck updates(program);
    MemoryCheck memory(program);
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        order.advance(program.ops[i], i);
        events.visit(program.ops[i], i, notes);
        check_places(program, i, notes);
        accesses.visit(i, order, notes);
        updates.visit(i, notes);
        memory.visit(i, order, notes);
    }
    updates.finish(notes);
    return std::move(notes).sorted();
}

}  // namespace wirewise
