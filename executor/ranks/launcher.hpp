// Starts the ranks of one host as child processes, hears how they end, and leaves none behind.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/ranks/ending.hpp"
#include "executor/ranks/settings.hpp"

namespace wirewise {

struct RankLaunch {
    std::vector<std::string> command;    // of every rank, the program first
    std::vector<std::string> variables;  // K=V: of every rank's environment, beside this process's own
    RunSettings settings;                // the token is chosen here
    // Asked a few times a second: a signal that arrived and ends the run.
    std::function<std::optional<int>()> interrupted;
};

// Rank 0 has this process's standard output and error; what others write to standard error follows their
// rank's name, line by line, and their standard output is dropped. Returns when all have ended: nothing when
// all did well, else why the run ended.
std::optional<Ending> launch(const RankLaunch& launch);

// This process's own command line.
std::vector<std::string> own_command();

}  // namespace wirewise
