// The check on events.
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

}  // namespace wirewise
