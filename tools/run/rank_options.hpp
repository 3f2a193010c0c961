// The options that say how ranks come to be and how long they wait for one another.
#pragma once

#include <string>

#include "executor/ranks/place.hpp"
#include "executor/ranks/settings.hpp"

namespace CLI {
class App;
}

namespace wirewise {

struct RankOptions {
    bool processes = false;
    std::string timeout = "20 s", join_timeout = "120 s";
    void add_to(CLI::App& command);
    RunSettings settings(int world) const;  // throws InputError
};

struct MachineOptions;
// The number of ranks that a launcher has started, checked against what --gpus and --nodes ask for.
int ranks_started(const RankPlace& place, const MachineOptions& options);

// This process's place among ranks that a launcher started. Throws InputError for half-set variables.
std::optional<RankPlace> own_place();

}  // namespace wirewise
