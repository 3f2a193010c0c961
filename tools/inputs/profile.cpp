#include "tools/inputs/profile.hpp"

#include <filesystem>

#include "model/units/embedded.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/built_in_profiles.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

CostProfile profile_of(const std::string& named, const Machine& machine) {
    if (!named.empty() && std::filesystem::exists(named)) return load_profile(named);
    const GpuModel& gpu = *machine.gpus.front().model;
    const std::string wanted = named.empty() ? gpu.name : named;
    std::vector<std::string> names{"data-sheet"};
    for (const EmbeddedFile& file : built_in_profile_files()) {
        const std::string name(file.name.substr(0, file.name.rfind('.')));
        if (name == wanted) return profile_from_text(file.text, "profile " + name);
        names.push_back(name);
    }
    if (named.empty() || named == "data-sheet") return profile_from_data_sheet(gpu);
    throw InputError("--profile", "no profile or file \"" + named + "\"", remedy_from(named, names));
}

}  // namespace wirewise
