// What all ranks of a run and its store agree on before they meet.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

namespace wirewise {

struct RunSettings {
    int world = 1;
    std::string token;    // strangers do not know it
    std::string version;  // of wirewise; all ranks run the same
    // A rank is taken for dead when it has been silent for that long.
    std::chrono::duration<double> silence{20};
    // All ranks come within that time, or none runs.
    std::chrono::duration<double> join{120};

    // How often a rank says that it is alive.
    std::chrono::milliseconds beat() const {
        using namespace std::chrono_literals;
        return std::min(1000ms, std::chrono::ceil<std::chrono::milliseconds>(silence / 5));
    }
};

}  // namespace wirewise
