#include <fmt/format.h>

#include "calibration/fit/observe.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/program/program.hpp"

namespace wirewise {

namespace {

// The dimension that runs over tokens: rows of the activations.
std::int64_t tokens_of(const Gemm& gemm) {
    return gemm.layout == GemmLayout::weight_gradient ? gemm.k : gemm.m;
}

void describe(const Gemm& gemm, const std::string& source, Observation& observation) {
    observation.kind = "gemm";
    observation.groups = {fmt::format("GEMM of {} tokens", tokens_of(gemm))};
    // Loops over one number of tokens were timed one after the other.
    observation.clock_run = fmt::format("{}, {} tokens", source, tokens_of(gemm));
}

void describe(const Attention& attention, const std::string&, Observation& observation) {
    observation.kind = attention.backward ? "attention backward" : "attention forward";
    observation.groups = {fmt::format("attention over {} tokens", attention.sequence)};
}

void describe(const Pointwise& kernel, const std::string&, Observation& observation) {
    const bool own = kernel.kind != PointwiseKind::eager;
    observation.kind = fmt::format("pointwise, {}", own ? name_of(kernel.kind) : name_of(kernel.access));
}

void describe(const OptimizerUpdate&, const std::string&, Observation& observation) {
    observation.kind = "optimizer";
}

// A loop over shorter kernels times the host that launches them: a call of matmul takes it up to 27 us, one
// of attention twice that, and one of autograd's attention backward 200-370 us, half the work for more time
// than the whole (2x H200, 2026-11-30). Our own kernels are timed one by one, by events; below 8 us these
// time themselves.
Seconds shortest(const KernelCase* sample) {
    const auto* pointwise = sample ? std::get_if<Pointwise>(&sample->kernel) : nullptr;
    if (pointwise && pointwise->kind != PointwiseKind::eager) return 8_us;
    const auto* attention = sample ? std::get_if<Attention>(&sample->kernel) : nullptr;
    if (!attention) return 27_us;
    return attention->backward ? 400_us : 54_us;
}

Observation observe(const KernelCase& sample, const std::string& source) {
    Observation observation;
    std::visit([&](const auto& kernel) { describe(kernel, source, observation); }, sample.kernel);
    if (sample.sustained) {
        observation.kind += ", sustained";
        observation.clock_run.clear();  // the power limit's own
    }
    observation.predict = [sample](const CostProfile& profile) {
        const double clock = sample.sustained ? power_factor(1, profile.power) : 1;
        return kernel_time(sample.kernel, profile).value() * clock;
    };
    return observation;
}

Observation observe(const TransferCase& sample) {
    Observation observation;
    observation.kind = fmt::format("transfer, {} to {}", name_of(sample.from), name_of(sample.to));
    observation.predict = [sample](const CostProfile& profile) {
        return copy_time({sample.from, sample.to, sample.bytes}, profile.copy).value();
    };
    return observation;
}

}  // namespace

std::optional<Observation> observe_kernel(const MeasuredCase& measured) {
    const auto* kernel = std::get_if<KernelCase>(&measured.subject);
    const auto* transfer = std::get_if<TransferCase>(&measured.subject);
    if (!measured.set_aside.empty() || measured.readings.empty() || (!kernel && !transfer))
        return std::nullopt;
    const double seconds = measured.readings.front().value;
    if (Seconds(seconds) < shortest(kernel)) return std::nullopt;
    const std::string file = measured.place.substr(0, measured.place.rfind(':'));
    Observation observation = kernel ? observe(*kernel, file) : observe(*transfer);
    observation.id = measured.id;
    observation.seconds = seconds;
    return observation;
}

}  // namespace wirewise
