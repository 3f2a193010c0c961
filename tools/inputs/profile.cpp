#include "tools/inputs/profile.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "model/cost/profile_files.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

namespace {

constexpr std::string_view kDataSheet = "data-sheet", kCollectives = "collectives_";

std::string stem(const EmbeddedFile& file) { return std::string(file.name.substr(0, file.name.rfind('.'))); }

CostProfile find_profile(const std::string& named, const GpuModel& gpu) {
    if (named.empty()) return profile_for(gpu);
    if (named == kDataSheet) return profile_from_data_sheet(gpu);
    if (std::filesystem::exists(named)) return load_profile(named);
    std::vector<std::string> names{std::string(kDataSheet)};
    for (const EmbeddedFile& file : profile_files()) {
        if (file.name.starts_with(kCollectives)) continue;
        if (stem(file) == named) return profile_for(gpu_model(named));
        names.push_back(stem(file));
    }
    throw InputError("--profile", "no file and no shipped profile \"" + named + "\"",
                     remedy_from(named, names));
}

}  // namespace

CostProfile profile_of(const std::string& named, const Machine& machine, std::vector<std::string>& warnings) {
    const GpuModel& gpu = *machine.gpus.front().model;
    CostProfile profile = find_profile(named, gpu);
    if (profile.gpu != gpu.name)
        warnings.push_back(fmt::format("--profile {}: times are those of {}, not of the machine's {}", named,
                                       profile.gpu, gpu.name));
    return profile;
}

CollectiveSamples samples_of(const std::string& named) {
    CollectiveSamples samples;
    if (named == kDataSheet) return samples;
    for (const EmbeddedFile& file : profile_files())
        if (file.name.starts_with(kCollectives))
            add_collective_samples(samples, file.text, std::string(file.name));
    return samples;
}

}  // namespace wirewise
