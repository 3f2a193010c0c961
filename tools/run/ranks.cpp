#include "tools/run/ranks.hpp"

#include <cstdio>
#include <cstdlib>

#include "model/units/error.hpp"
#include "tools/interrupt.hpp"

namespace wirewise {

namespace {

constexpr int kFault = 1, kBadInput = 2, kFailedRun = 4, kInterrupted = 130;

// The driver may never return from what this process waits for.
void end_when_stuck(const RankPlace& place, const Ending& ending) {
    if (!place.launched_by_us) std::fprintf(stderr, "wirewise: error: %s\n", RunEnded(ending).what());
    std::_Exit(ending.exit_code);
}

// Tells the others why this rank ends the run.
int tell(TcpRendezvous& ranks, const std::exception& error) {
    const auto end = [&](int code, const std::string& why) {
        ranks.fail(code, why);
        return code;
    };
    if (const auto* ended = dynamic_cast<const RunEnded*>(&error)) return ended->exit_code();
    if (dynamic_cast<const InputError*>(&error)) return end(kBadInput, error.what());
    if (dynamic_cast<const Interrupted*>(&error)) return end(kInterrupted, "interrupted");
    if (const auto* run = dynamic_cast<const RunError*>(&error)) return end(kFailedRun, run->why());
    if (dynamic_cast<const std::bad_alloc*>(&error)) return end(kFailedRun, "cannot allocate memory");
    return end(kFault, std::string(error.what()) + " (a fault of wirewise)");
}

Report silent(int exit_code) { return {.silent = true, .exit_code = exit_code}; }

}  // namespace

Report launch_ranks(const RankOptions& options, int world, const RankCommand& command) {
    const InterruptWatch interrupt(Interrupts::noted_with_terminate);
    const RankLaunch what{command.words, command.variables, options.settings(world),
                          [&] { return interrupt.signal(); }};
    const auto ending = launch(what);
    if (!ending) return silent(0);
    if (interrupt.signal()) return silent(ending->exit_code);
    throw RunEnded(*ending);
}

Report run_as_rank(const RankPlace& place, const RankOptions& options, const RankWork& work) {
    std::optional<TcpRendezvous> ranks;
    try {
        ranks.emplace(place, options.settings(place.world));
        ranks->when_stuck([&](const Ending& ending) { end_when_stuck(place, ending); });
        Report report = work(*ranks);
        ranks->leave();
        return place.rank == 0 ? report : silent(report.exit_code);
    } catch (const std::exception& error) {
        const int code = ranks ? tell(*ranks, error) : kFailedRun;
        if (!place.launched_by_us) throw;
        if (!ranks) std::fprintf(stderr, "wirewise: error: %s\n", error.what());
        return silent(code);
    }
}

}  // namespace wirewise
