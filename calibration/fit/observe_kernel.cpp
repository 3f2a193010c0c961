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
    observation.kind = fmt::format("pointwise, {}", name_of(kernel.access));
}

void describe(const OptimizerUpdate&, const std::string&, Observation& observation) {
    observation.kind = "optimizer";
}

}  // namespace

std::optional<Observation> observe_kernel(const MeasuredCase& measured) {
    const auto* subject = std::get_if<KernelCase>(&measured.subject);
    if (!subject || !measured.set_aside.empty() || measured.readings.empty()) return std::nullopt;
    const double seconds = measured.readings.front().value;
    if (seconds < kShortestKernel.value()) return std::nullopt;
    Observation observation;
    observation.id = measured.id;
    observation.seconds = seconds;
    observation.predict = [kernel = subject->kernel](const CostProfile& profile) {
        return kernel_time(kernel, profile).value();
    };
    std::visit([&](const auto& kernel) { describe(kernel, measured.labels.source, observation); },
               subject->kernel);
    return observation;
}

}  // namespace wirewise
