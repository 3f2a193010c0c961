#include "tools/run/job_environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "model/units/error.hpp"
#include "simulator/planner/placement.hpp"
#include "tools/inputs/words.hpp"

extern char** environ;

namespace wirewise {

namespace {

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

std::vector<int> gpus_from(const std::string& text, const char* place) {
    std::vector<int> gpus;
    for (const std::string& word : split(text, ',')) {
        const std::int64_t gpu = integer_of(word, place);
        constexpr std::int64_t kMost = 1 << 16;  // far beyond any host
        if (gpu < 0 || gpu > kMost || std::find(gpus.begin(), gpus.end(), gpu) != gpus.end())
            throw InputError(place, fmt::format("{} is no GPU's number or named twice", gpu),
                             "name each GPU once, as nvidia-smi counts: 0,1");
        gpus.push_back(static_cast<int>(gpu));
    }
    return gpus;
}

void set_variable(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
}

void narrow_to(const std::string& ids) {
    const std::vector<int> wanted = gpus_from(ids, "--gpu-ids");
    const auto visible = visible_gpus();
    for (const int gpu : wanted)
        if (visible && std::find(visible->begin(), visible->end(), gpu) == visible->end())
            throw InputError("--gpu-ids", fmt::format("{} hides GPU {}", kVisible, gpu),
                             fmt::format("choose among {}", fmt::join(*visible, ",")));
    set_variable(kVisible, fmt::format("{}", fmt::join(wanted, ",")));
}

}  // namespace

void enter_job_environment(const MachineOptions& options) {
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
    for (const std::string& assignment : options.nccl_env) {
        const auto equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("--nccl-env", "\"" + assignment + "\" sets nothing",
                             "write NAME=VALUE, for example NCCL_P2P_DISABLE=1");
        set_variable(assignment.substr(0, equals), assignment.substr(equals + 1));
    }
    if (!options.gpu_ids.empty()) narrow_to(options.gpu_ids);
}

NcclEnvironment nccl_environment_here() {
    NcclEnvironment environment;
    for (char** entry = environ; *entry; ++entry)
        if (std::string_view(*entry).starts_with("NCCL_")) environment.set(*entry, "environment");
    return environment;
}

std::optional<std::vector<int>> visible_gpus() {
    const char* const text = std::getenv(kVisible);
    const std::string words = text ? text : "";
    const bool numbers = !words.empty() && words.find_first_not_of("0123456789, ") == std::string::npos;
    return numbers ? std::optional(gpus_from(words, kVisible)) : std::nullopt;
}

void choose_visible_gpus(const Machine& machine, int ranks) {
    if (std::getenv(kVisible) || ranks >= machine.gpus_per_server()) return;
    const std::vector<int> gpus = choose_gpus(machine, nccl_environment_here(), ranks).gpus;
    set_variable(kVisible, fmt::format("{}", fmt::join(gpus, ",")));
}

std::vector<int> gpus_of_job(const Machine& machine, int ranks) {
    std::vector<int> gpus(static_cast<std::size_t>(machine.gpu_count()));
    std::iota(gpus.begin(), gpus.end(), 0);
    const auto visible = visible_gpus();
    // Launchers may show each rank its own GPU alone: nothing is then known of the others'.
    if (visible && machine.servers == 1 && static_cast<int>(visible->size()) >= ranks) gpus = *visible;
    const auto beyond =
        std::find_if(gpus.begin(), gpus.end(), [&](int gpu) { return gpu >= machine.gpu_count(); });
    if (beyond != gpus.end() || static_cast<int>(gpus.size()) < ranks)
        throw InputError("--gpus",
                         fmt::format("{} ranks do not fit GPUs {} of {}, which has {}", ranks,
                                     fmt::join(gpus, ","), machine.name, machine.gpu_count()),
                         fmt::format("choose fewer, or set {} to GPUs that are there", kVisible));
    gpus.resize(static_cast<std::size_t>(ranks));
    return gpus;
}

}  // namespace wirewise
