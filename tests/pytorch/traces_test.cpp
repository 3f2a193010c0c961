// What autograd keeps, architecture by architecture: the peaks of forward and backward over what lives
// between steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/program/walk.hpp"
#include "model/strategy/lower.hpp"
#include "tests/pytorch/measured.hpp"

namespace wirewise {
namespace {

struct Peaks {
    Bytes forward, backward;
};

Peaks peaks_of(const TracedStep& step) {
    MemoryWalk walk(make_caching_allocator());
    for (const Phase phase : {Phase::load, Phase::first_step, Phase::second_step})
        walk.run(lower(step.model, step.plan, phase));
    const Bytes rest = walk.allocated();
    const StepProgram program = lower(step.model, step.plan, Phase::steady_step);
    std::vector<Bytes> allocated;
    walk.run(program, {.allocated_by_op = &allocated});
    Peaks peaks;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        Bytes& peak = program.ops[i].section == Section::forward ? peaks.forward : peaks.backward;
        if (program.ops[i].section != Section::update) peak = std::max(peak, allocated[i] - rest);
    }
    return peaks;
}

// DeepSeek's rotations in complex numbers are not followed.
TEST(Traces, PeaksOfEveryArchitecture) {
    double sum = 0;
    const std::vector<TracedStep> steps = traced_steps();
    for (const TracedStep& step : steps) {
        const Peaks peaks = peaks_of(step);
        const double limit = step.id.starts_with("deepseek") ? 0.025 : 0.01;
        EXPECT_LT(std::abs(peaks.forward / step.forward_peak - 1), limit) << step.id;
        EXPECT_LT(std::abs(peaks.backward / step.backward_peak - 1), limit) << step.id;
        sum += std::abs(peaks.backward / step.backward_peak - 1);
    }
    EXPECT_GE(steps.size(), 32U);
    EXPECT_LT(sum / static_cast<double>(steps.size()), 0.002);
}

}  // namespace
}  // namespace wirewise
