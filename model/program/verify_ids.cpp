#include <fmt/format.h>

#include "model/program/verify_checks.hpp"

namespace wirewise {

namespace {

class IdCheck {
  public:
    IdCheck(const StepProgram& program, FaultNotes& notes) : program_(program), notes_(notes) {}

    void run() {
        for (std::size_t b = 0; b < program_.buffers.size(); ++b)
            if (!known(program_.buffers[b].home))
                unknown(program_.ops.size(), fmt::format("home stream of buffer b{}", b));
        for (std::size_t i = 0; i < program_.ops.size(); ++i) visit(program_.ops[i], i);
    }

  private:
    bool known(StreamId id) const { return index_of(id) < program_.streams.size(); }
    bool known(EventId id) const { return index_of(id) < program_.event_count; }
    void unknown(std::size_t op, const std::string& what) {
        notes_.add(FaultKind::unknown_id, op, "names what the program does not have: " + what);
    }

    void visit(const Op& op, std::size_t i) {
        if (touches_bytes(op) && !known(op.stream)) unknown(i, fmt::format("stream {}", index_of(op.stream)));
        if (const auto* compute = std::get_if<Compute>(&op.payload))
            if (index_of(compute->kernel) >= program_.kernels.size())
                unknown(i, fmt::format("kernel {}", index_of(compute->kernel)));
        if (const auto* record = std::get_if<Record>(&op.payload)) check_event(record->event, i);
        if (const auto* wait = std::get_if<Wait>(&op.payload)) check_event(wait->event, i);
        if (std::size_t(op.first_operand) + op.operand_count > program_.operands.size())
            return unknown(i, "its operands");
        for (const Operand& operand : program_.operands_of(op))
            if (index_of(operand.buffer) >= program_.buffers.size())
                unknown(i, fmt::format("buffer b{}", index_of(operand.buffer)));
    }
    void check_event(EventId event, std::size_t i) {
        if (!known(event)) unknown(i, fmt::format("event e{}", index_of(event)));
    }

    const StepProgram& program_;
    FaultNotes& notes_;
};

}  // namespace

void check_ids(const StepProgram& program, FaultNotes& notes) { IdCheck(program, notes).run(); }

}  // namespace wirewise
