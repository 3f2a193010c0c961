#include "simulator/planner/bottleneck.hpp"

#include <fmt/format.h>

#include "model/units/text.hpp"

namespace wirewise {

namespace {

double percent(Seconds part, Seconds whole) { return whole.value() > 0 ? 100 * (part / whole) : 0; }

std::string compute_text(const Estimate& estimate) {
    const Seconds step = estimate.time.step;
    return fmt::format(
        "compute: matrix products {:.0f} %, attention {:.0f} %, memory-bound kernels {:.0f} %, optimizer "
        "{:.0f} % "
        "of the step",
        percent(estimate.gemm, step), percent(estimate.attention, step), percent(estimate.pointwise, step),
        percent(estimate.time.optimizer, step));
}

std::string communication_text(const Estimate& estimate) {
    const CollectiveUse& use = estimate.collectives.front();
    return fmt::format("{} on {}: {} calls, {} at {} busbw; exposed communication is {:.0f} % of the step",
                       name_of(use.kind), use.link, use.calls, to_text(use.bytes), to_text(use.busbw),
                       percent(estimate.time.exposed_communication, estimate.time.step));
}

}  // namespace

std::string bottleneck_of(const Estimate& estimate) {
    const TimelineSummary& time = estimate.time;
    if (time.host_bound) {
        return fmt::format(
            "host: it needs {:.0f} % of the step to issue the kernels; larger micro-batches or compiled "
            "layers help",
            percent(time.host_busy, time.step));
    }
    const bool wires =
        !estimate.collectives.empty() && time.exposed_communication > time.compute + time.optimizer;
    const bool shared = !estimate.collectives.empty() && time.exposed_communication > time.step * 0.2;
    if (wires) return communication_text(estimate);
    return shared ? compute_text(estimate) + "; then " + communication_text(estimate)
                  : compute_text(estimate);
}

}  // namespace wirewise
