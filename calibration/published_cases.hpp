// What is known of single published sources beyond their rows: calibration/published/cases.json.
#pragma once

#include <string>
#include <vector>

namespace wirewise {

// All words are in lower case.
struct PublishedMachine {
    std::string hardware, wiring;  // words that must stand in the row
    std::string machine;           // a built-in name, or our JSON itself
    std::string fabric;
    bool fabric_nics = false;
};

struct PublishedGpu {
    std::string hardware, gpu;
};

struct SetAside {
    std::string source, reason;
};

struct PublishedCases {
    std::vector<PublishedMachine> machines;  // first match wins
    std::vector<PublishedGpu> gpus;
    std::vector<SetAside> set_aside;
};

const PublishedCases& published_cases();

}  // namespace wirewise
