// The checks on events and on the order of collectives.
#include <fmt/format.h>

#include "model/program/verify_checks.hpp"

namespace wirewise {

void EventCheck::visit(const Op& op, std::size_t index, FaultNotes& notes) {
    if (const auto* record = std::get_if<Record>(&op.payload)) recorded_[index_of(record->event)] = true;
    if (const auto* wait = std::get_if<Wait>(&op.payload))
        if (!recorded_[index_of(wait->event)])
            notes.add(FaultKind::wait_before_record, index,
                      fmt::format("waits for event e{}, which no earlier op records", index_of(wait->event)));
}

void CollectiveOrderCheck::visit(const StepProgram& program, std::size_t index, const StreamOrder& order,
                                 FaultNotes& notes) {
    const auto* call = std::get_if<Collective>(&program.ops[index].payload);
    if (call == nullptr) return;
    std::size_t& last = last_.at(static_cast<std::size_t>(call->axis));
    const StreamId here = program.ops[index].stream;
    if (last != kNone && program.ops[last].stream != here &&
        !order.follows(here, program.ops[last].stream, last))
        notes.add(
            FaultKind::overlapping_collectives_unordered, index,
            fmt::format("runs on the communicator of axis {} without waiting for op {} on stream {}",
                        name_of(call->axis), last, program.streams[index_of(program.ops[last].stream)].name));
    last = index;
}

}  // namespace wirewise
