#include "calibration/fit/widths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include "model/cost/kernel_time.hpp"
#include "model/cost/profile_json.hpp"

namespace wirewise {

namespace {

constexpr double kLevel = 0.9;
constexpr double kLeastMemoryWidth =
    0.0005;  // a walk that was exact on all rows is still not sure to the byte

Json number(double value) { return Json::parse(fmt::format("{:.4g}", value)); }

std::vector<double> left_out_of(const std::string& kind, const CalibrationSamples& samples,
                                const ProfileFit& fit) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < samples.times.size(); ++i)
        if (samples.times[i].kind == kind)
            errors.insert(errors.end(), fit.errors[i].left_out.begin(), fit.errors[i].left_out.end());
    return errors;
}

// Of each step, the largest by any fit that lacked one of its groups: what a step outside of the samples may
// do.
std::vector<double> worst_left_out_of(const std::string& kind, const CalibrationSamples& samples,
                                      const ProfileFit& fit) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < samples.times.size(); ++i) {
        if (samples.times[i].kind != kind || fit.errors[i].left_out.empty()) continue;
        double most = 0;
        for (const double error : fit.errors[i].left_out) most = std::max(most, std::abs(error));
        errors.push_back(most);
    }
    return errors;
}

// Writes widths of one runtime, with the words that say where they come from.
class Writer {
  public:
    Writer(Json& intervals, const std::string& runtime, const CalibrationSamples& samples)
        : step_(intervals["step"][runtime]), memory_(intervals["memory"][runtime]), samples_(samples) {}

    void write(const std::string& runtime, const ProfileFit& fit) {
        write_step(left_out_of(runtime + " step, GPU-bound", samples_, fit),
                   worst_left_out_of(runtime + " step, GPU-bound", samples_, fit),
                   left_out_of(runtime + " step, host-bound", samples_, fit));
        const RuntimeSamples& of = samples_.runtimes.at(runtime);
        write_range("tokens", of.tokens);
        write_range("sequence_length", of.sequences);
        write_memory("allocated", of.allocated);
        write_memory("reserved", of.reserved);
        write_memory("device_used", of.device_used);
        if (of.races > 0)
            memory_["expected_outcome"] = {
                {"share", number(static_cast<double>(of.as_expected) / of.races)},
                {"source",
                 "runs of DDP and ZeRO-1 whose peak was the expected one (" + samples_.source + ")"},
                {"date", samples_.date},
                {"samples", of.races}};
    }

  private:
    Json width(double half, const std::string& what, std::size_t n) const {
        return {{"half_width", number(half)},
                {"source", what + " (" + samples_.source + ")"},
                {"date", samples_.date},
                {"samples", n}};
    }

    void write_step(const std::vector<double>& gpu, const std::vector<double>& worst,
                    const std::vector<double>& host) {
        constexpr std::string_view kOf = " of the errors of steps whose group the fit had not seen";
        if (!gpu.empty()) {
            step_["gpu_bound"] = width(width_covering(gpu), fmt::format("90 % quantile{}", kOf), gpu.size());
            step_["extrapolated"] =
                width(width_covering(worst),
                      "90 % quantile of each step's largest error by fits that lacked one of its groups",
                      worst.size());
        }
        if (!host.empty())
            step_["host_bound"] =
                width(width_covering(host), fmt::format("90 % quantile{}", kOf), host.size());
        // A runtime measured only on one side of the border has that side's width for both.
        for (const char* kind : {"gpu_bound", "host_bound", "extrapolated"})
            if (!step_.contains(kind) && !step_.empty()) step_[kind] = step_.begin().value();
    }

    void write_range(const char* key, const std::vector<double>& values) {
        if (values.empty()) return;
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        step_[key] = {*least, *most};
    }

    void write_memory(const char* quantity, const std::vector<double>& errors) {
        if (errors.empty()) return;
        memory_[quantity] = width(std::max(kLeastMemoryWidth, width_covering(errors)),
                                  "90 % quantile of the walk's errors", errors.size());
    }

    Json& step_;
    Json& memory_;
    const CalibrationSamples& samples_;
};

// A node that lacks a width says nothing.
void drop_incomplete(Json& nodes, std::initializer_list<const char*> needed) {
    for (auto node = nodes.begin(); node != nodes.end();)
        if (std::all_of(needed.begin(), needed.end(), [&](const char* key) { return node->contains(key); }))
            ++node;
        else
            node = nodes.erase(node);
}

}  // namespace

double width_covering(std::vector<double> errors) {
    if (errors.empty()) return 0;
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    const auto rank = static_cast<std::size_t>(std::ceil(kLevel * static_cast<double>(errors.size() + 1)));
    return errors[std::min(rank, errors.size()) - 1];
}

namespace {

// "gemm, sustained" -> "gemm"; empty: no kernel.
std::string kernel_of(const std::string& kind) {
    for (const char* name : {"gemm", "attention", "pointwise", "optimizer", "transfer"})
        if (kind.starts_with(name)) return name;
    return {};
}

// As `validate` predicts them: in loops that draw all the power there is, whatever the run's own clock was;
// and by the fits that lacked one of the kernel's groups.
double worst_error(const Observation& sample, const ObservedError& error, const CostProfile& profile) {
    const double clock = sample.clock_run.empty() ? 1 : power_factor(1, profile.power);
    double worst = std::abs(sample.predict(profile) * clock / sample.seconds - 1);
    for (const double left_out : error.left_out) worst = std::max(worst, std::abs(left_out));
    return worst;
}

// A kind of few samples has no quantile of its own: it has that of all kinds together, "other".
void set_kernel_widths(Json& profile, const CalibrationSamples& samples, const ProfileFit& fit) {
    constexpr std::size_t kFewest = 10;
    const CostProfile fitted = profile_from_json(profile, "the fitted profile");
    std::map<std::string, std::vector<double>> errors;
    for (std::size_t i = 0; i < samples.times.size(); ++i)
        if (const std::string kind = kernel_of(samples.times[i].kind); !kind.empty())
            for (const std::string& of : {kind, std::string("other")})
                errors[of].push_back(worst_error(samples.times[i], fit.errors[i], fitted));
    for (const auto& [kind, of] : errors)
        if (of.size() >= kFewest)
            profile["intervals"]["kernel"][kind] = {
                {"half_width", number(width_covering(of))},
                {"source", "90 % quantile of each sample's largest error, its group seen or not (" +
                               samples.source + ")"},
                {"date", samples.date},
                {"samples", of.size()}};
}

}  // namespace

void set_intervals(Json& profile, const CalibrationSamples& samples, const ProfileFit& fit) {
    Json& intervals = profile["intervals"];
    const bool timed = std::any_of(samples.runtimes.begin(), samples.runtimes.end(),
                                   [](const auto& runtime) { return !runtime.second.tokens.empty(); });
    if (timed) intervals["step"].erase("other");  // what was measured speaks for what was not
    for (const auto& [runtime, of] : samples.runtimes)
        Writer(intervals, runtime, samples).write(runtime, fit);
    drop_incomplete(intervals["step"], {"gpu_bound", "host_bound", "extrapolated"});
    drop_incomplete(intervals["memory"], {"allocated", "reserved", "device_used"});
    set_kernel_widths(profile, samples, fit);
}

}  // namespace wirewise
