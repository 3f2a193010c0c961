#include "simulator/simulate.hpp"

#include <algorithm>

#include "model/cost/kernel_time.hpp"
#include "simulator/engine.hpp"

namespace wirewise {
namespace {

// How much of the step the matrix kernels fill decides how far the power limit holds the clock down, and the
// step decides how much they fill: one round is enough, since the factor moves by a third of the share's
// error.
double gemm_factor(const StepTasks& tasks, const Timeline& first, double first_factor,
                   const PowerCosts& power) {
    const double step = static_cast<double>(first.end.count());
    const double matrix = tasks.gemm_work * first_factor + tasks.attention_work;
    return power_factor(step > 0 ? matrix / step : 0, power);
}

// After many steps the host is ahead by all the time it saved, up to the length of the launch queue.
Picoseconds host_lead(const StepTasks& tasks, const Timeline& first) {
    if (!tasks.barriers.empty()) return 0;
    const Picoseconds saved = first.end.count() - tasks.host_total;
    return std::clamp<Picoseconds>(saved, 0, tasks.host_lead_limit);
}

}  // namespace

Timeline simulate(const StepProgram& program, const CostProfile& profile, const CollectiveCost& wires,
                  const RuntimeCosts& runtime) {
    constexpr double kFirstShare = 0.6;  // of a usual step
    const StepTasks tasks = price(program, profile, wires, runtime);
    const double first_factor = power_factor(kFirstShare, profile.power);
    const Timeline first = run(tasks, profile.contention, {0, first_factor});
    const RunSettings steady{host_lead(tasks, first), gemm_factor(tasks, first, first_factor, profile.power)};
    Timeline timeline = run(tasks, profile.contention, steady);
    timeline.end = std::max(timeline.end, Instant(tasks.host_total));
    return timeline;
}

}  // namespace wirewise
