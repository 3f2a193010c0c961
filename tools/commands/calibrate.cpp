#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <CLI/CLI.hpp>

#include "model/cost/profile_json.hpp"
#include "model/topology/json_layout.hpp"
#include "model/units/error.hpp"
#include "tools/calibrate/calibration_report.hpp"
#include "tools/calibrate/gather.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/files.hpp"
#include "tools/inputs/profile.hpp"
#include "tools/render/progress.hpp"

namespace wirewise {

namespace {

struct Options {
    std::vector<std::string> files, held;
    std::string models, out, base;
    OutputOptions output;
};

std::string models_folder(const Options& options) {
    if (!options.models.empty()) return options.models;
    const char* shared = std::getenv("WIREWISE_SHARED");
    return shared ? std::string(shared) + "/model_configs" : "";
}

std::vector<MeasuredCase> read_all(const Options& options) {
    std::vector<MeasuredCase> cases;
    for (const std::string& file : options.files)
        for (MeasuredCase& one : read_cases(file, {models_folder(options)})) cases.push_back(std::move(one));
    return without_copies(std::move(cases));
}

// The profile to start from: a file, else what the GPU's data sheet says.
Json base_profile(const Options& options, const GpuModel& gpu, std::string& place) {
    if (!options.base.empty()) {
        place = options.base;
        return parse_topology_json(text_of_file(options.base, "--base"), options.base);
    }
    CostProfile sheet = profile_from_data_sheet(gpu);
    place = sheet.name;
    sheet.name = gpu.name;
    return to_json(sheet);
}

bool has_place(const Json& profile, const std::string& pointer) {
    try {
        return !pointer.empty() && profile.contains(Json::json_pointer(pointer));
    } catch (const Json::exception&) {  // no pointer at all
        return false;
    }
}

void require_places(const std::vector<std::string>& held, const Json& profile, const std::string& place) {
    for (const std::string& pointer : held)
        if (!has_place(profile, pointer))
            throw InputError("--hold", fmt::format("{} has no {}", place, pointer),
                             "write a JSON pointer such as /runtimes or /gemm/rate");
}

// Samples labelled with another machine's name, or in other units, are found out here at the latest.
void require_possible(const CostProfile& fitted, const GpuModel& gpu) {
    constexpr double kAllowed = 1.1;  // rates are of full waves of tiles; data sheets round
    for (const auto& [type, rate] : fitted.gemm.rate) {
        const auto peak = gpu.dense_peak.find(type);
        if (peak != gpu.dense_peak.end() && rate.value() > kAllowed * peak->second.value())
            throw InputError(
                "SAMPLES",
                fmt::format("say {:.0f} TFLOP/s in {}, above the {:.0f} of {}", rate.value() * 1e-12,
                            name_of(type), peak->second.value() * 1e-12, gpu.name),
                "check the samples' `machine` and units; no profile was written");
    }
}

std::string names_of(const std::vector<std::string>& files) {
    std::vector<std::string> names;
    for (const std::string& file : files) names.push_back(std::filesystem::path(file).filename().string());
    return fmt::format("{}", fmt::join(names, ", "));
}

Report calibrate_command(const Options& options) {
    const std::vector<MeasuredCase> cases = read_all(options);
    const GpuModel& gpu = gpu_of_samples(cases);
    std::string place;
    const Json base = base_profile(options, gpu, place);
    require_places(options.held, base, place);
    const CostProfile profile = profile_from_json(base, place);
    Progress progress("calibrate", options.output.quiet);
    std::vector<std::string> warnings;
    const CollectiveSamples wires = samples_of(options.base);
    CalibrationSamples samples = gather(cases, profile, wires, warnings,
                                        [&](std::size_t done, std::size_t total, const std::string& now) {
                                            progress.step(done, total, now);
                                        });
    samples.source = names_of(options.files);
    samples.held = options.held;
    samples.date = fmt::format("{:%Y-%m-%d}", std::chrono::system_clock::now());
    const Calibration calibration = calibrate(base, place, samples);
    require_possible(profile_from_json(calibration.profile, options.out), gpu);
    if (profile.gpu != gpu.name)
        warnings.push_back(
            fmt::format("--base {} is a profile of {}; the samples are of {}", place, profile.gpu, gpu.name));
    if (calibration.refused.empty()) write_file(options.out, laid_out(calibration.profile), "--out");
    Report report = calibration_report(calibration, place);
    report.warnings = std::move(warnings);
    return report;
}

}  // namespace

void add_calibrate_command(CommandLine& line) {
    CLI::App& command = line.add("calibrate", "fit a cost profile to measured samples");
    auto options = std::make_shared<Options>();
    command
        .add_option("SAMPLES", options->files,
                    "files of measured kernels, collectives and training steps, one JSON object a line")
        ->required();
    command.add_option("--out", options->out, "write the profile here")->required();
    command.add_option("--base", options->base,
                       "the profile to improve; what it knows counts as much as its samples did [the GPU's "
                       "data sheet]");
    command.add_option("--hold", options->held,
                       "a JSON pointer of the profile: its numbers stay as they are (repeatable)");
    command.add_option("--models", options->models,
                       "where the samples' model configs lie [$WIREWISE_SHARED/model_configs]");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return calibrate_command(*options); });
}

}  // namespace wirewise
