#include "tools/doctor/findings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "model/topology/live.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/inputs/profile.hpp"
#include "tools/run/backend.hpp"

extern char** environ;

namespace wirewise {

namespace {

constexpr double kFull = 0.05;  // of a GPU's memory: more is held by somebody, not by the driver

// Variables that change what a run does: whole names, and beginnings that end in "_".
constexpr std::array<std::string_view, 17> kVariables{
    "NCCL_",      "CUDA_",      "CUDNN_",           "CUBLAS_",     "NVIDIA_",     "WIREWISE_", "RANK",
    "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "SLURM_",    "OMPI_COMM_",
    "PMI_",       "PMIX_",      "TORCHELASTIC_"};
constexpr std::string_view kHidden = kTokenVariable;  // the run's secret

bool matters(std::string_view name) {
    return name != kHidden && std::any_of(kVariables.begin(), kVariables.end(), [&](std::string_view known) {
               return known.back() == '_' ? name.starts_with(known) : name == known;
           });
}

void look_at_variables(Findings& found) {
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos && matters(text.substr(0, equals)))
            found.variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    std::sort(found.variables.begin(), found.variables.end());
}

void look_at_launcher(Findings& found) try {
    found.place = rank_place([](const char* name) { return std::getenv(name); });
} catch (const InputError& error) {
    found.problems.emplace_back(error.what());
}

void look_at_backend(Findings& found) try { backend_of("cuda"); } catch (const std::exception& error) {
    found.cuda_backend = error.what();
    if (!found.devices.gpus.empty()) found.problems.push_back(found.cuda_backend);
}

void look_at_topology(Findings& found) try {
    if (found.devices.gpus.empty()) return;
    found.topology = import_live();
    if (!found.topology->machine) {
        found.problems.emplace_back(
            "the topology of this machine cannot be read: see `wirewise topo --live`");
        return;
    }
    const CostProfile profile = profile_of({}, *found.topology->machine, found.remarks);
    found.profile = fmt::format("{} ({})", profile.name, profile.measured ? "measured" : "data sheet");
} catch (const InputError& error) {
    found.problems.emplace_back(error.what());
}

void look_at_libraries(Findings& found) {
    found.libraries = libraries_here();
    for (const LibraryFound& library : found.libraries)
        if (library.version.empty() && !found.devices.gpus.empty())
            found.remarks.push_back(library.what + " is not found where libraries are loaded from");
}

void look_at_memory_in_use(Findings& found) {
    for (std::size_t i = 0; i < found.devices.gpus.size(); ++i) {
        const DeviceState& gpu = found.devices.gpus[i];
        if (static_cast<double>(gpu.used.count()) > kFull * static_cast<double>(gpu.total.count()))
            found.remarks.push_back(fmt::format("GPU {}: {} of {} are in use, {}", i, to_text(gpu.used),
                                                to_text(gpu.total), to_text(gpu.holders)));
    }
}

}  // namespace

Findings look_around() {
    Findings found;
    found.cores = static_cast<int>(std::thread::hardware_concurrency());
    found.memory = Bytes(sysconf(_SC_PAGESIZE)) * sysconf(_SC_PHYS_PAGES);
    found.devices = devices_here();
    look_at_variables(found);
    look_at_launcher(found);
    look_at_backend(found);
    look_at_topology(found);
    look_at_libraries(found);
    look_at_memory_in_use(found);
    if (found.devices.driver.empty())
        found.remarks.emplace_back("no NVIDIA driver: plans are made, and `run --backend host` computes");
    return found;
}

}  // namespace wirewise
