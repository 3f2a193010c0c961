// Hours and money of a whole training.
#pragma once

#include <optional>
#include <string>

#include "tools/inputs/inputs.hpp"

namespace wirewise {

struct Job {
    double hours = 0, gpu_hours = 0;
    std::optional<double> cost;
    std::string currency;
};

Job job_of(const Inputs& inputs, const PlanCandidate& candidate);  // of --tokens-total at --price
Json job_json(const Job& job);
std::string to_text(const Job& job);  // "41.2 h, 346 USD"

}  // namespace wirewise
