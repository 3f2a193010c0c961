#include "simulator/planner/walk_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/strategy/lower.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

// The steps at which the peak of a training run can fall: states appear in the first, buckets and optimizer
// states are complete from the second on, the caching allocator's segments from the third; then what a run
// does between steps.
constexpr std::array kPhases{Phase::load,        Phase::first_step, Phase::second_step,
                             Phase::steady_step, Phase::evaluation, Phase::save};

std::string describe(const Buffer& buffer) {
    return fmt::format("{} ({}, {}, {})", to_text(buffer.name), name_of(buffer.role), to_text(buffer.bytes),
                       name_of(buffer.dtype));
}

// The largest buffer that `op` is the first to name.
const Buffer* largest_new_buffer(const StepProgram& program, std::size_t op) {
    std::vector<bool> known(program.buffers.size());
    for (std::size_t earlier = 0; earlier < op; ++earlier)
        for (const Operand& operand : program.operands_of(program.ops[earlier]))
            known[index_of(operand.buffer)] = true;
    const Buffer* largest = nullptr;
    for (const Operand& operand : program.operands_of(program.ops[op])) {
        const Buffer& buffer = program.at(operand.buffer);
        if (!known[index_of(operand.buffer)] && (!largest || buffer.bytes > largest->bytes))
            largest = &buffer;
    }
    return largest;
}

// The last micro-batch of a walked program stands for the plan's last one.
std::string renumbered(const std::string& at, const ParallelPlan& walked, const ParallelPlan& plan) {
    const auto last = [](const ParallelPlan& of) {
        return fmt::format("micro-batch {},", of.gradient_accumulation - 1);
    };
    const auto found = at.find(last(walked));
    if (found == std::string::npos) return at;
    return std::string(at).replace(found, last(walked).size(), last(plan));
}

// The program of each phase in turn; one that repeats is lowered once. The steady step's may be moved from:
// evaluation never repeats it.
template <class Visit>
void for_each_phase(const Transformer& model, const ParallelPlan& plan, const Visit& visit) {
    StepProgram program;
    for (const Phase phase : kPhases) {
        if (!repeats_previous_phase(plan, phase)) program = lower(model, plan, phase);
        program.phase = phase;
        visit(program);
    }
}

}  // namespace

MemoryWalk walk_for(Runtime runtime) {
    return MemoryWalk(runtime == Runtime::native ? make_arena() : make_caching_allocator());
}

ParallelPlan with_walked_micro_batches(ParallelPlan plan) {
    plan.gradient_accumulation = std::min(plan.gradient_accumulation, kWalkedMicroBatches);
    return plan;
}

bool has_stale_bucket(const ParallelPlan& plan) {
    return plan.runtime == Runtime::pytorch &&
           (plan.strategy == Strategy::ddp || plan.strategy == Strategy::zero1);
}

bool repeats_previous_phase(const ParallelPlan& plan, Phase phase) {
    if (phase == Phase::second_step) return plan.runtime == Runtime::native;
    // DeepSpeed's first step makes the states and records the order of modules; the second is like any other.
    return phase == Phase::steady_step && !has_stale_bucket(plan);
}

WalkedPhases walk_phases(const Transformer& model, const ParallelPlan& whole) {
    const ParallelPlan plan = with_walked_micro_batches(whole);
    WalkedPhases walked;
    MemoryWalk walk = walk_for(plan.runtime);
    for_each_phase(model, plan, [&](StepProgram& program) {
        PhasePeak phase{program.phase, walk.run(program), walk.host()};
        phase.peak.at = renumbered(phase.peak.at, plan, whole);
        walked.reserved = std::max(walked.reserved, phase.peak.reserved);
        walked.phases.push_back(std::move(phase));
        if (program.phase == Phase::steady_step) walked.steady = std::move(program);
    });
    walked.peak = walk.peak();
    walked.peak.at = renumbered(walked.peak.at, plan, whole);
    return walked;
}

Bytes least_reserved(const Transformer& model, const ParallelPlan& whole) {
    const ParallelPlan plan = with_walked_micro_batches(whole);
    MemoryWalk walk(make_caching_allocator(Bytes(0)));
    Bytes least;
    for_each_phase(model, plan,
                   [&](const StepProgram& program) { least = std::max(least, walk.run(program).reserved); });
    return least;
}

FirstOverflow first_overflow(const Transformer& model, const ParallelPlan& whole, Bytes limit) {
    const ParallelPlan plan = with_walked_micro_batches(whole);
    MemoryWalk walk = walk_for(plan.runtime);
    for (const Phase phase : kPhases) {
        const StepProgram program = lower(model, plan, phase);
        std::vector<Bytes> allocated;
        walk.run(program, {.allocated_by_op = &allocated});
        const auto over =
            std::find_if(allocated.begin(), allocated.end(), [&](Bytes bytes) { return bytes > limit; });
        if (over == allocated.end()) continue;
        const auto op = static_cast<std::size_t>(over - allocated.begin());
        const Buffer* buffer = largest_new_buffer(program, op);
        return {phase, buffer ? describe(*buffer) : "", renumbered(place_of(program.ops[op]), plan, whole)};
    }
    return {};
}

}  // namespace wirewise
