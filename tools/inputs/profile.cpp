#include "tools/inputs/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "model/cost/profile_files.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/files.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

namespace {

constexpr std::string_view kDataSheet = "data-sheet";

std::string stem(const EmbeddedFile& file) { return std::string(file.name.substr(0, file.name.rfind('.'))); }

bool is_shipped(const std::string& named) {
    const std::span<const EmbeddedFile> files = profile_files();
    return std::any_of(files.begin(), files.end(), [&](const auto& file) { return stem(file) == named; });
}

[[noreturn]] void refuse_unknown(const std::string& named) {
    std::vector<std::string> names{std::string(kDataSheet)};
    for (const EmbeddedFile& file : profile_files()) names.push_back(stem(file));
    throw InputError("--profile", "no file and no shipped profile \"" + named + "\"",
                     remedy_from(named, names));
}

CostProfile find_profile(const std::string& named, const GpuModel& gpu) {
    if (named.empty()) return profile_for(gpu);
    if (named == kDataSheet) return profile_from_data_sheet(gpu);
    if (std::filesystem::exists(named)) return load_profile(named);
    if (is_shipped(named)) return profile_for(gpu_model(named));
    refuse_unknown(named);
}

}  // namespace

CostProfile profile_of(const std::string& named, const Machine& machine, std::vector<std::string>& warnings) {
    const GpuModel& gpu = *machine.gpus.front().model;
    CostProfile profile = find_profile(named, gpu);
    if (profile.gpu == "host")
        throw InputError("--profile", named + " describes a CPU that ran with --backend host, not a GPU",
                         "give a GPU's profile, or leave it out");
    if (profile.gpu != gpu.name)
        warnings.push_back(fmt::format("--profile {}: times are those of {}, not of the machine's {}", named,
                                       profile.gpu, gpu.name));
    return profile;
}

CollectiveSamples samples_of(const std::string& named) {
    CollectiveSamples samples;
    if (named == kDataSheet) return samples;
    for (const EmbeddedFile& file : profile_files())
        add_collective_samples(samples, file.text, std::string(file.name));
    if (std::filesystem::exists(named))
        add_collective_samples(samples, text_of_file(named, "--profile"), named);
    else if (!named.empty() && !is_shipped(named))
        refuse_unknown(named);
    return samples;
}

}  // namespace wirewise
