#include "calibration/fit/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/units/text.hpp"

namespace wirewise {

namespace {

struct Value {
    const char* key;
    double (*measured)(const ProcessSample&);
    double (*profiled)(const std::string& text);
    std::string (*written)(double);
    const char* unit;
};

constexpr double kMicro = 1e6;

const Value kValues[] = {
    {"kernel", [](const ProcessSample& sample) { return sample.launch.value() * kMicro; },
     [](const std::string& text) { return parse_seconds(text, "/runtimes").value() * kMicro; },
     [](double microseconds) { return fmt::format("{:.4g} us", microseconds); }, " us"},
    {"context", [](const ProcessSample& sample) { return static_cast<double>(sample.fixed_memory.count()); },
     [](const std::string& text) { return static_cast<double>(parse_bytes(text, "/runtimes").count()); },
     [](double bytes) { return exact_text(Bytes(static_cast<std::int64_t>(bytes))); }, " B"}};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// What the measurements scatter around their median.
double scatter(const std::vector<double>& values, double middle) {
    double sum = 0;
    for (const double value : values) sum += std::abs(value / middle - 1);
    return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<FittedTerm> set_processes(Json& profile, const std::vector<ProcessSample>& samples) {
    std::vector<FittedTerm> terms;
    for (const Value& value : kValues) {
        std::map<std::string, std::vector<double>> by_runtime;
        for (const ProcessSample& sample : samples)
            if (value.measured(sample) > 0) by_runtime[sample.runtime].push_back(value.measured(sample));
        for (const auto& [runtime, measured] : by_runtime) {
            if (!profile["runtimes"].contains(runtime)) continue;
            Json& place = profile["runtimes"][runtime][value.key];
            FittedTerm term;
            term.term.pointer = fmt::format("/runtimes/{}/{}", runtime, value.key);
            term.term.unit = value.unit;
            term.term.value = value.profiled(place.get<std::string>());
            term.value = median(measured);
            term.samples = static_cast<int>(measured.size());
            term.residual = term.spread = scatter(measured, term.value);
            place = value.written(term.value);
            terms.push_back(term);
        }
    }
    return terms;
}

}  // namespace wirewise
