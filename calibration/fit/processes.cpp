#include "calibration/fit/processes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "calibration/fit/median.hpp"
#include "model/units/text.hpp"

namespace wirewise {

namespace {

struct Value {
    std::string key;  // below the runtime's
    std::function<double(const ProcessSample&)> measured;
    double (*profiled)(const std::string& text);
    std::string (*written)(double);
    const char* unit;
};

constexpr double kMicro = 1e6;

double bytes_from(const std::string& text) {
    return static_cast<double>(parse_bytes(text, "/runtimes").count());
}
std::string bytes_text(double bytes) { return exact_text(Bytes(static_cast<std::int64_t>(bytes))); }

std::vector<Value> values_of(const std::vector<ProcessSample>& samples) {
    std::vector<Value> values{
        {"kernel", [](const ProcessSample& sample) { return sample.launch.value() * kMicro; },
         [](const std::string& text) { return parse_seconds(text, "/runtimes").value() * kMicro; },
         [](double microseconds) { return fmt::format("{:.4g} us", microseconds); }, " us"},
        {"context",
         [](const ProcessSample& sample) { return static_cast<double>(sample.fixed_memory.count()); },
         bytes_from, bytes_text, " B"}};
    std::set<std::string> transports;
    for (const ProcessSample& sample : samples)
        if (sample.communicator.second > 0_B) transports.insert(sample.communicator.first);
    for (const std::string& transport : transports)
        values.push_back({"communicator/" + transport,
                          [transport](const ProcessSample& sample) {
                              const bool same = sample.communicator.first == transport;
                              return same ? static_cast<double>(sample.communicator.second.count()) : 0;
                          },
                          bytes_from, bytes_text, " B"});
    return values;
}

// What the measurements scatter around their median.
double scatter(const std::vector<double>& values, double middle) {
    double sum = 0;
    for (const double value : values) sum += std::abs(value / middle - 1);
    return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<FittedTerm> set_processes(Json& profile, const std::vector<ProcessSample>& samples,
                                      const std::vector<std::string>& held) {
    std::vector<FittedTerm> terms;
    for (const Value& value : values_of(samples)) {
        std::map<std::string, std::vector<double>> by_runtime;
        for (const ProcessSample& sample : samples)
            if (value.measured(sample) > 0) by_runtime[sample.runtime].push_back(value.measured(sample));
        for (const auto& [runtime, measured] : by_runtime) {
            FittedTerm term;
            term.term.pointer = fmt::format("/runtimes/{}/{}", runtime, value.key);
            const Json::json_pointer pointer(term.term.pointer);
            if (!profile.contains(pointer) || is_held(term.term.pointer, held)) continue;
            Json& place = profile[pointer];
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
