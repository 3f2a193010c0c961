// What this machine has for a run, and what is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/ranks/place.hpp"
#include "model/topology/import.hpp"
#include "tools/doctor/devices.hpp"
#include "tools/doctor/libraries.hpp"

namespace wirewise {

struct Findings {
    int cores = 0;
    Bytes memory;  // of the host
    Devices devices;
    std::vector<LibraryFound> libraries;
    std::string cuda_backend;  // why it cannot be used; empty: it can
    std::optional<ImportResult> topology;
    std::string profile;  // the one that predictions use; empty where no GPU is
    std::vector<std::pair<std::string, std::string>> variables;  // of the environment, that matter
    std::optional<RankPlace> place;
    std::vector<std::string> problems;  // that a run would meet
    std::vector<std::string> remarks;
};

Findings look_around();

}  // namespace wirewise
