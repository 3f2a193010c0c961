// Who this process is among the ranks of a run, as its launcher's environment says it: torchrun's variables,
// Slurm's, those of mpirun's kinds, or our own launcher's.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "executor/ranks/socket.hpp"

namespace wirewise {

struct RankPlace {
    int rank = 0, world = 1;
    int local_rank = -1, local_world = -1;  // among the ranks of this host; -1: not said
    Endpoint store;
    std::string token;            // of the run
    std::string launcher;         // "torchrun", "Slurm", ...
    bool launched_by_us = false;  // the launcher keeps the store, else rank 0 does
};

// The value of a variable; null where there is none.
using Environment = std::function<const char*(const char*)>;

// Nothing where no launcher started this process. Throws InputError naming what is missing or wrong.
std::optional<RankPlace> rank_place(const Environment& environment);

// The first host of a Slurm node list: "gpu[07-09,12],cpu1" -> "gpu07".
std::string first_host(const std::string& node_list);

// What our launcher adds to torchrun's variables.
inline constexpr const char* kTokenVariable = "WIREWISE_RUN_TOKEN";
inline constexpr const char* kLauncherVariable = "WIREWISE_LAUNCHER";

}  // namespace wirewise
