#include <fmt/format.h>

#include "model/program/verify_checks.hpp"

namespace wirewise {

namespace {

bool is_weight(const Buffer& buffer) {
    return buffer.lifetime == Lifetime::persistent &&
           (buffer.role == Role::parameter || buffer.role == Role::master_parameter);
}

bool is_optimizer_update(const StepProgram& program, const Op& op) {
    const auto* compute = std::get_if<Compute>(&op.payload);
    return compute != nullptr && std::holds_alternative<OptimizerUpdate>(program.at(compute->kernel));
}

}  // namespace

void UpdateCheck::visit(std::size_t index, FaultNotes& notes) {
    const Op& op = program_.ops[index];
    if (!is_training_step(program_.phase) || !touches_bytes(op)) return;
    const bool update = is_optimizer_update(program_, op);
    for (const Operand& operand : program_.operands_of(op)) {
        if (operand.access == Access::read || !is_weight(program_.at(operand.buffer))) continue;
        Ranges& ranges = buffers_[index_of(operand.buffer)];
        const auto [begin, end] = inside_buffer(program_, operand);
        ranges.written.add(begin, end);
        if (update && ranges.updated.add(begin, end))
            notes.add(FaultKind::double_update, index,
                      fmt::format("updates bytes of {} that were updated before",
                                  buffer_text(program_, operand.buffer)));
    }
}

void UpdateCheck::finish(FaultNotes& notes) const {
    if (!is_training_step(program_.phase)) return;
    for (std::size_t b = 0; b < program_.buffers.size(); ++b)
        if (is_weight(program_.buffers[b]) &&
            !buffers_[b].written.covers(0, program_.buffers[b].bytes.count()))
            notes.add(
                FaultKind::missing_update, program_.ops.size(),
                fmt::format("never updates all of {}", buffer_text(program_, static_cast<BufferId>(b))));
}

}  // namespace wirewise
