#include "simulator/planner/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wirewise {

namespace {

constexpr double kSigmas90 = 1.6449;  // half width of a normal's 90 % interval, in standard deviations

// Half widths as shares of the row they belong to. Provisional: they stand until calibration gives residuals
// per profile. Memory: leave-one-out errors of a walk of PyTorch runs on two H200 (2026-11, 27 rows):
// allocated 0.2 % at most, reserved 0.3 % mean and 2.9 % worst; our own arena is exact, its libraries'
// workspaces are not. Outside the allocator: measured per wire (0.02 GB spread), unmeasured kinds differ by
// up to a third. Time: leave-one-group-out errors of a stream simulation on the same runs: 1.9 % mean, 5.3 %
// worst; host-bound steps scatter by 20 %; data-sheet profiles of other planners err by 15-30 % (published:
// Calculon, vTrain, SimAI).
struct Widths {
    double allocated = 0.01, fragmentation = 0.5, runtime_measured = 0.03, runtime_other = 0.33;
    double time_measured = 0.06, time_other = 0.25, host_bound = 0.2, unmeasured_wire = 0.15;
};
constexpr Widths kWidths;

double root_of_squares(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }

Bytes memory_half_width(const Estimate& estimate, const CostProfile& profile) {
    const double fragmentation = static_cast<double>((estimate.reserved - estimate.peak.allocated).count());
    const double runtime = static_cast<double>(estimate.runtime.total().count());
    return Bytes(static_cast<std::int64_t>(
        root_of_squares(kWidths.allocated * static_cast<double>(estimate.peak.allocated.count()),
                        kWidths.fragmentation * fragmentation,
                        (profile.measured ? kWidths.runtime_measured : kWidths.runtime_other) * runtime)));
}

double time_half_width(const Estimate& estimate, const CostProfile& profile) {
    const double wire_share =
        estimate.time.step.value() > 0 ? estimate.time.exposed_communication / estimate.time.step : 0;
    return root_of_squares(profile.measured ? kWidths.time_measured : kWidths.time_other,
                           estimate.time.host_bound ? kWidths.host_bound : 0,
                           kWidths.unmeasured_wire * wire_share);
}

}  // namespace

Intervals intervals_of(const Estimate& estimate, const CostProfile& profile) {
    const Bytes memory = memory_half_width(estimate, profile);
    Interval<Bytes> ends{estimate.device_used(), estimate.device_used()};
    for (const RacePeak& other : estimate.others) {  // a run must survive each
        ends.lo = std::min(ends.lo, other.reserved + estimate.runtime.total());
        ends.hi = std::max(ends.hi, other.reserved + estimate.runtime.total());
    }
    const double time = time_half_width(estimate, profile);
    const std::string kind = profile.measured ? "measured profile" : "data-sheet profile";
    return {
        {std::max(Bytes(0), ends.lo - memory), ends.hi + memory},
        {estimate.time.step * std::max(0.0, 1 - time), estimate.time.step * (1 + time)},
        fmt::format(
            "provisional, {}: allocated {:.0f} %, fragmentation {:.0f} %, outside the allocator {:.0f} %{}",
            kind, 100 * kWidths.allocated, 100 * kWidths.fragmentation,
            100 * (profile.measured ? kWidths.runtime_measured : kWidths.runtime_other),
            estimate.others.empty() ? "" : "; around every outcome of the race for DDP's first bucket"),
        fmt::format("provisional, {}: kernels {:.0f} %, exposed communication {:.0f} % of it{}", kind,
                    100 * (profile.measured ? kWidths.time_measured : kWidths.time_other),
                    100 * kWidths.unmeasured_wire,
                    estimate.time.host_bound
                        ? fmt::format(", host-bound step {:.0f} %", 100 * kWidths.host_bound)
                        : "")};
}

double chance_above(Bytes limit, Bytes expected, const Interval<Bytes>& interval) {
    const Bytes arm = limit < expected ? expected - interval.lo : interval.hi - expected;
    const double sigma = static_cast<double>(arm.count()) / kSigmas90;
    const double margin = static_cast<double>((limit - expected).count());
    if (sigma <= 0) return margin < 0 ? 1 : 0;
    return 0.5 * std::erfc(margin / sigma / std::sqrt(2.0));
}

}  // namespace wirewise
