#include "calibration/fit/error_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wirewise {

namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <class ErrorsOf>
std::vector<ErrorRow> rows_of(const std::vector<Observation>& samples, const ProfileFit& fit,
                              const ErrorsOf& errors_of) {
    std::map<std::string, std::vector<double>> by_kind;
    for (std::size_t i = 0; i < samples.size(); ++i)
        for (const double error : errors_of(fit.errors[i])) by_kind[samples[i].kind].push_back(error);
    std::vector<ErrorRow> rows;
    for (auto& [kind, errors] : by_kind) rows.push_back(error_row(kind, std::move(errors)));
    return rows;
}

std::vector<double> unseen(const ObservedError& error) {
    return error.left_out.empty() ? std::vector<double>{error.after} : error.left_out;
}

}  // namespace

ErrorRow error_row(const std::string& kind, std::vector<double> errors) {
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    return {kind, static_cast<int>(errors.size()), mean(errors), errors[errors.size() / 2], errors.back()};
}

bool is_step(const Observation& sample) { return sample.kind.find(" step, ") != std::string::npos; }

std::vector<ErrorRow> errors_before(const std::vector<Observation>& samples, const ProfileFit& fit) {
    return rows_of(samples, fit, [](const ObservedError& e) { return std::vector<double>{e.before}; });
}

std::vector<ErrorRow> errors_left_out(const std::vector<Observation>& samples, const ProfileFit& fit) {
    return rows_of(samples, fit, unseen);
}

std::vector<ErrorRow> errors_fitted(const std::vector<Observation>& samples, const ProfileFit& fit) {
    return rows_of(samples, fit, [](const ObservedError& e) { return std::vector<double>{e.after}; });
}

Growth growth_of(const std::vector<Observation>& samples, const ProfileFit& fit, bool steps) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (is_step(samples[i]) != steps) continue;
        std::vector<double> left_out = unseen(fit.errors[i]);
        for (double& error : left_out) error = std::abs(error);
        differences.push_back(mean(left_out) - std::abs(fit.errors[i].before));
    }
    if (differences.empty()) return {};
    const double middle = mean(differences);
    double squares = 0;
    for (const double difference : differences) squares += (difference - middle) * (difference - middle);
    const auto n = static_cast<double>(differences.size());
    return {middle, std::sqrt(squares / n / std::max(1.0, n - 1))};
}

}  // namespace wirewise
