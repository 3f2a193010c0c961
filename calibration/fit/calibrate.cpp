#include "calibration/fit/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calibration/fit/error_rows.hpp"
#include "calibration/fit/widths.hpp"
#include "model/cost/contention.hpp"
#include "model/cost/profile_json.hpp"

namespace wirewise {

namespace {

// A sample is named when the fit gives it less than this weight: it lies beyond 3.4 times its kind's noise.
constexpr double kOutlierWeight = 0.4;
// Held-out errors may grow by this much without saying anything.
constexpr double kTolerance = 0.003;

Json number(double value) { return Json::parse(fmt::format("{:.3g}", value)); }

std::string group_of(const std::string& pointer) { return pointer.substr(1, pointer.find('/', 1) - 1); }

void set_terms(Json& profile, const ProfileFit& fit, const CalibrationSamples& samples) {
    for (const FittedTerm& fitted : fit.terms)
        profile["terms"][fitted.term.pointer] = {{"date", samples.date},
                                                 {"samples", fitted.samples},
                                                 {"residual", number(fitted.residual)},
                                                 {"spread", number(fitted.spread)}};
}

// A group's origin speaks for its fitted numbers; what of it was not fitted keeps the words it had.
void set_origins(Json& profile, const ProfileFit& fit, const CalibrationSamples& samples) {
    std::set<std::string> groups;
    for (const FittedTerm& fitted : fit.terms) groups.insert(group_of(fitted.term.pointer));
    for (const std::string& group : groups) {
        if (!profile[group].contains("origin")) continue;  // its terms speak for themselves
        Json& origin = profile[group]["origin"];
        const std::string before = origin.value("source", "");
        const std::string fitted_to = "fitted to " + samples.source;
        if (before.find(fitted_to) == std::string::npos)
            origin["source"] = fmt::format("{}; the rest and what was known before: {}", fitted_to, before);
        origin["date"] = samples.date;
        int most = 0;
        double residual = 0;
        for (const FittedTerm& fitted : fit.terms)
            if (group_of(fitted.term.pointer) == group && fitted.samples > most)
                most = fitted.samples, residual = fitted.residual;
        origin["samples"] = most;
        origin["residual"] = number(residual);
    }
}

std::vector<Outlier> outliers_of(const CalibrationSamples& samples, const ProfileFit& fit) {
    std::vector<Outlier> outliers;
    for (std::size_t i = 0; i < samples.times.size(); ++i)
        if (fit.errors[i].weight < kOutlierWeight)
            outliers.push_back({samples.times[i].id, fit.errors[i].after});
    std::sort(outliers.begin(), outliers.end(),
              [](const Outlier& a, const Outlier& b) { return std::abs(a.error) > std::abs(b.error); });
    return outliers;
}

double mean_size(const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) sum += std::abs(error);
    return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

std::vector<SampleError> each_of(const CalibrationSamples& samples, const ProfileFit& fit) {
    std::vector<SampleError> each;
    for (std::size_t i = 0; i < samples.times.size(); ++i) {
        const Observation& sample = samples.times[i];
        const ObservedError& error = fit.errors[i];
        each.push_back({sample.id, sample.kind, sample.seconds, error.before, error.after,
                        mean_size(error.left_out), error.weight});
    }
    return each;
}

std::string refusal(const CalibrationSamples& samples, const ProfileFit& fit) {
    for (const bool steps : {true, false}) {
        const Growth growth = growth_of(samples.times, fit, steps);
        if (growth.mean > std::max(kTolerance, growth.error))
            return fmt::format(
                "the error on held-out {} grows by {:.2f} % of the time (standard error {:.2f} %)",
                steps ? "steps" : "kernels", 100 * growth.mean, 100 * growth.error);
    }
    return {};
}

using Errors = std::map<std::string, std::vector<double>>;  // by kind

std::vector<ErrorRow> rows_of(const Errors& errors) {
    std::vector<ErrorRow> rows;
    for (const auto& [kind, sizes] : errors) rows.push_back(error_row(kind, sizes));
    return rows;
}

void append(std::vector<ErrorRow> rows, std::vector<ErrorRow>& to) {
    to.insert(to.end(), rows.begin(), rows.end());
}

// Off by more than the noise of small sizes, which only adds (up to 60 %, tests/collectives).
constexpr double kWireOutlier = 0.6;

void add_wires(const CalibrationSamples& samples, const std::string& place, Calibration& calibration) {
    if (samples.wires.empty() || is_held("/wires", samples.held)) return;
    WireFit fit = fit_wires(calibration.profile, place, samples.wires, samples.source, samples.date);
    calibration.profile["wires"] = std::move(fit.wires);
    Errors before, after, fitted;
    for (const WireError& error : fit.errors) {
        before[error.kind].push_back(error.before);
        after[error.kind].push_back(error.unseen);
        fitted[error.kind].push_back(error.fitted);
        calibration.samples.push_back(
            {error.id, error.kind, error.seconds, error.before, error.fitted, std::abs(error.unseen), 1});
        if (std::abs(error.unseen) > kWireOutlier) calibration.outliers.push_back({error.id, error.unseen});
    }
    append(rows_of(before), calibration.before);
    append(rows_of(after), calibration.after);
    append(rows_of(fitted), calibration.fitted);
}

void add_processes(std::vector<FittedTerm> measured, const CalibrationSamples& samples,
                   Calibration& calibration) {
    for (FittedTerm& term : measured) {
        calibration.profile["terms"][term.term.pointer] = {
            {"source", "measured: " + samples.source}, {"date", samples.date}, {"samples", term.samples}};
        calibration.terms.push_back(std::move(term));
    }
}

// Transports whose contention was observed get numbers of their own, to start from what channels say.
Json with_contention(Json profile, const std::string& place, const CalibrationSamples& samples) {
    constexpr double kLittle = 0.02;  // a collective beside compute, until the samples say
    const CostProfile known = profile_from_json(profile, place);
    for (const auto& [transport, channels] : samples.contending) {
        if (known.contention.wires.contains(transport)) continue;
        const WireContention start = contention_of(known, transport, channels);
        profile["contention"]["wires"][transport] = {{"slowdown", number(start.slowdown)},
                                                     {"start_delay", number(start.start_delay)},
                                                     {"collective_slowdown", kLittle}};
    }
    return profile;
}

}  // namespace

Calibration calibrate(const Json& old_profile, const std::string& place, const CalibrationSamples& samples) {
    Json start = with_contention(old_profile, place, samples);
    std::vector<FittedTerm> measured = set_processes(start, samples.processes, samples.held);
    std::vector<std::string> held = samples.held;  // and what was measured by itself
    for (const FittedTerm& term : measured) held.push_back(term.term.pointer);
    ProfileFit fit = fit_profile(start, place, samples.times, held);
    Calibration calibration;
    calibration.profile = std::move(fit.document);
    set_terms(calibration.profile, fit, samples);
    set_origins(calibration.profile, fit, samples);
    set_intervals(calibration.profile, samples, fit);
    calibration.before = errors_before(samples.times, fit);
    calibration.after = errors_left_out(samples.times, fit);
    calibration.fitted = errors_fitted(samples.times, fit);
    calibration.samples = each_of(samples, fit);
    calibration.outliers = outliers_of(samples, fit);
    calibration.refused = refusal(samples, fit);
    calibration.terms = std::move(fit.terms);
    add_wires(samples, place, calibration);
    add_processes(std::move(measured), samples, calibration);
    return calibration;
}

}  // namespace wirewise
