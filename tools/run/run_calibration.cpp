#include "tools/run/run_calibration.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "calibration/fit/observe.hpp"
#include "model/cost/profile_json.hpp"
#include "model/topology/json_layout.hpp"
#include "model/units/text.hpp"
#include "tools/calibrate/calibration_report.hpp"
#include "tools/inputs/files.hpp"

namespace wirewise {

namespace {

CalibrationSamples samples_of(const std::vector<Timeline>& measured, const RunInputs& inputs,
                              const Prediction& prediction) {
    constexpr double kShortest = 1e-3;  // of the step
    TimelinesToObserve run{prediction.program, measured, prediction.wires,
                           std::string(name_of(inputs.plan.runtime)),
                           kShortest * to_seconds(measured.front().end)};
    CalibrationSamples samples;
    samples.times = observe_timelines(run);
    samples.source = fmt::format("a run of {}, {}", inputs.model.name, name_of(inputs.plan.strategy));
    samples.date = fmt::format("{:%Y-%m-%d}", std::chrono::system_clock::now());
    return samples;
}

Seconds next_step(const Prediction& prediction, const Json& document, const std::string& place) {
    const CostProfile profile = profile_from_json(document, place);
    return to_seconds(
        simulate(prediction.program, profile, prediction.wires(profile), profile.runtime("native")).end);
}

// The old profile, with what its file knows of the wires.
Json old_document(const CostProfile& profile, const std::string& file) {
    Json old = to_json(profile);
    if (!std::filesystem::exists(file)) return old;
    const Json before = parse_topology_json(text_of_file(file, "--calibrate"), file);
    if (before.contains("wires")) old["wires"] = before["wires"];
    return old;
}

}  // namespace

void add_calibration(const std::string& file, const std::vector<Timeline>& measured, const RunInputs& inputs,
                     const Prediction& prediction, Report& report) {
    const Json old = old_document(prediction.profile, file);
    const bool replaces = std::filesystem::exists(file);
    const Calibration calibration = calibrate(old, file, samples_of(measured, inputs, prediction));
    const bool better = calibration.refused.empty();
    if (better || !replaces) write_file(file, laid_out(better ? calibration.profile : old), "--calibrate");
    const Seconds next = next_step(prediction, better ? calibration.profile : old, file);
    Report fitted = calibration_report(calibration, replaces ? file : prediction.origin);
    report.document["calibration"] = std::move(fitted.document);
    report.document["calibration"]["profile"] = file;
    report.document["calibration"]["next_step_seconds"] = next.value();
    for (Table& table : fitted.tables) report.tables.push_back(std::move(table));
    report.after.push_back(better ? fmt::format("{} now predicts {} for this step.", file, to_text(next))
                                  : fmt::format("{} is kept: {}.", file, calibration.refused));
}

}  // namespace wirewise
