// Which ranks of a run have come, are alive, and have left; who is taken for dead, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/ranks/ending.hpp"
#include "executor/ranks/settings.hpp"
#include "executor/ranks/silence.hpp"

namespace wirewise {

class Roster {
  public:
    explicit Roster(const RunSettings& settings)
        : settings_(settings), ranks_(static_cast<std::size_t>(settings.world)) {}

    // Why the rank is none of this run; empty when it is one and has not come yet.
    std::string misfit(int rank, std::int64_t world, const std::string& version) const;

    void joined(int rank) { at(rank).joined = true; }
    void heard(int rank) { at(rank).silence.heard(); }
    void stands(int rank, const std::string& where) { at(rank).where = where; }
    void lost(int rank);  // its connection
    void left(int rank) { at(rank).left = true; }
    bool has_left(int rank) const { return at(rank).left; }
    bool everyone_left() const;

    // "; last heard of in ...", or nothing.
    std::string last_place(int rank) const;
    // The rank that is gone, silent or late, if any. Called often.
    std::optional<Ending> judge(Silence::Clock::time_point now);

  private:
    struct State {
        bool joined = false, left = false;
        Silence silence;
        std::optional<Silence::Clock::time_point> lost;
        std::string where;
    };
    State& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const State& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    std::optional<Ending> judge(int rank, Silence::Clock::time_point now);
    std::optional<Ending> judge_absent() const;

    const RunSettings settings_;
    const Silence::Clock::time_point begin_ = Silence::Clock::now();
    std::vector<State> ranks_;
};

}  // namespace wirewise
