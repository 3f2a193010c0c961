#include "tools/run/rank_options.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/options/options.hpp"

namespace wirewise {

namespace {

std::chrono::duration<double> patience_of(const std::string& word, const char* option) {
    constexpr double kLeast = 0.5, kMost = 86400;
    const bool bare = word.find_first_not_of("0123456789.") == std::string::npos;
    const double seconds = parse_seconds(bare ? word + " s" : word, option).value();
    if (!(seconds >= kLeast && seconds <= kMost))
        throw InputError(option, "\"" + word + "\" is out of range",
                         "write 0.5 s to 24 h, for example \"20 s\"");
    return std::chrono::duration<double>(seconds);
}

}  // namespace

void RankOptions::add_to(CLI::App& command) {
    const char* group = "Ranks";
    command
        .add_flag("--processes", processes,
                  "every rank in a process of its own, as on GPUs [host: threads of one process]")
        ->group(group);
    command
        .add_option("--timeout", timeout,
                    "a rank that gives no sign of life for this long is dead; ten times as long, all "
                    "are stuck in one place [20 s]")
        ->group(group);
    command.add_option("--join-timeout", join_timeout, "how long ranks wait for all to come [120 s]")
        ->group(group);
}

RunSettings RankOptions::settings(int world) const {
    return {.world = world,
            .version = WIREWISE_VERSION,
            .silence = patience_of(timeout, "--timeout"),
            .join = patience_of(join_timeout, "--join-timeout")};
}

int ranks_started(const RankPlace& place, const MachineOptions& options) {
    if (!options.gpus) return place.world;
    const bool fits = *options.gpus * options.nodes == place.world ||
                      (options.nodes == 1 && *options.gpus == place.local_world);
    if (!fits)
        throw InputError(
            "--gpus",
            fmt::format("{} on {} node{} do not make the {} ranks that {} started", *options.gpus,
                        options.nodes, options.nodes == 1 ? "" : "s", place.world, place.launcher),
            "leave --gpus and --nodes out, or start as many ranks");
    return place.world;
}

std::optional<RankPlace> own_place() {
    const auto place = rank_place([](const char* name) { return std::getenv(name); });
    return place && place->world > 1 ? place : std::nullopt;
}

}  // namespace wirewise
