#include "executor/ranks/roster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace wirewise {

namespace {
// Between a closed connection and its being held against the rank: who knows more may say it.
constexpr std::chrono::milliseconds kLossGrace{500};
}  // namespace

std::string Roster::misfit(int rank, std::int64_t world, const std::string& version) const {
    if (world != settings_.world)
        return fmt::format("was started as one of {} ranks, the run has {}", world, settings_.world);
    if (version != settings_.version)
        return fmt::format("is wirewise {}, the run is wirewise {}", version, settings_.version);
    if (rank < 0 || rank >= settings_.world) return fmt::format("is no rank of {}", settings_.world);
    if (at(rank).joined) return "was started twice";
    return {};
}

void Roster::lost(int rank) {
    if (!at(rank).left) at(rank).lost = Silence::Clock::now();
}

bool Roster::everyone_left() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const State& state) { return state.left; });
}

std::string Roster::last_place(int rank) const {
    const std::string& where = at(rank).where;
    return where.empty() ? "" : "; last heard of in " + where;
}

std::optional<Ending> Roster::judge(Silence::Clock::time_point now) {
    for (int rank = 0; rank < settings_.world; ++rank)
        if (auto ending = judge(rank, now)) return ending;
    return now - begin_ > settings_.join ? judge_absent() : std::nullopt;
}

std::optional<Ending> Roster::judge(int rank, Silence::Clock::time_point now) {
    State& state = at(rank);
    if (!state.joined || state.left) return std::nullopt;
    state.silence.tick(now, settings_.beat());
    if (state.lost && now - *state.lost > kLossGrace)
        return Ending{rank, 4, "its connection closed" + last_place(rank)};
    if (!state.lost && state.silence.length() > settings_.silence)
        return Ending{rank, 4,
                      fmt::format("has not been heard for {:.3g} s: it hangs, or its host does{}",
                                  settings_.silence.count(), last_place(rank))};
    return std::nullopt;
}

std::optional<Ending> Roster::judge_absent() const {
    std::vector<int> absent;
    for (int rank = 0; rank < settings_.world; ++rank)
        if (!at(rank).joined) absent.push_back(rank);
    if (absent.empty()) return std::nullopt;
    return Ending{absent.front(), 4,
                  fmt::format("has not come within {:.3g} s (absent of {} ranks: {})", settings_.join.count(),
                              settings_.world, fmt::join(absent, ", "))};
}

}  // namespace wirewise
