#include <fmt/format.h>

#include "model/program/verify_checks.hpp"

namespace wirewise {

namespace {

// Where the op's nth operand must lie; nothing: anywhere.
std::optional<MemorySpace> space_of(const StepProgram& program, const Op& op, std::size_t nth) {
    return std::visit(Overloaded{
                          [&](const Compute&) -> std::optional<MemorySpace> {
                              const bool host = program.streams[index_of(op.stream)].kind == StreamKind::host;
                              return host ? MemorySpace::host : MemorySpace::device;
                          },
                          [&](const Copy& copy) -> std::optional<MemorySpace> {
                              if (op.operand_count == 2) return nth == 0 ? copy.from : copy.to;
                              return MemorySpace::device;  // the host side has no buffer
                          },
                          [](const Collective&) -> std::optional<MemorySpace> { return MemorySpace::device; },
                          [](const Send&) -> std::optional<MemorySpace> { return MemorySpace::device; },
                          [](const Receive&) -> std::optional<MemorySpace> { return MemorySpace::device; },
                          [](const auto&) -> std::optional<MemorySpace> { return std::nullopt; },
                      },
                      op.payload);
}

}  // namespace

void check_places(const StepProgram& program, std::size_t index, FaultNotes& notes) {
    const Op& op = program.ops[index];
    const auto operands = program.operands_of(op);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto wanted = space_of(program, op, i);
        if (!wanted || program.at(operands[i].buffer).space == *wanted) continue;
        notes.add(FaultKind::wrong_memory, index,
                  fmt::format("uses {}, which does not lie in {} memory",
                              buffer_text(program, operands[i].buffer), name_of(*wanted)));
    }
}

}  // namespace wirewise
