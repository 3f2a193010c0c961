#include "simulator/planner/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/strategy/lower.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

std::string describe(const Buffer& buffer) {
    return fmt::format("{} ({}, {}, {})", to_text(buffer.name), name_of(buffer.role), to_text(buffer.bytes),
                       name_of(buffer.dtype));
}

}  // namespace

Overflow overflow_of(const Transformer& model, const ParallelPlan& plan, const PlanCandidate& candidate) {
    const MemoryPeak& peak = candidate.estimate.peak;
    const StepProgram program = lower(model, plan, peak.phase);
    Overflow overflow{"", peak.at, std::max(Bytes(0), candidate.estimate.device_used() - candidate.limit)};
    if (index_of(peak.op) >= program.ops.size()) return overflow;
    const Buffer* largest = nullptr;
    for (const Operand& operand : program.operands_of(program.ops[index_of(peak.op)])) {
        const Buffer& buffer = program.at(operand.buffer);
        if (!largest || buffer.bytes > largest->bytes) largest = &buffer;
    }
    if (largest) overflow.buffer = describe(*largest);
    return overflow;
}

}  // namespace wirewise
