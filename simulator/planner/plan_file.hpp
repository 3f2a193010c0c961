// A chosen plan as a file: written by `plan --plan-out`, read by `run --plan`. Stable: keys are the option
// names, reading back what was written gives the same values.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/strategy/plan.hpp"

namespace wirewise {

struct PlanFile {
    std::string model;  // as --model took it; a path: relative to the file that holds this
    std::vector<std::string> model_overrides;
    std::string machine;  // as --machine took it, likewise
    int nodes = 1;
    std::vector<int> gpus;  // in rank order
    std::vector<std::string> nccl_env;
    double max_grad_norm = 0;  // of a plan that clips gradients
    ParallelPlan plan;
    bool operator==(const PlanFile&) const = default;
};

nlohmann::ordered_json to_json(const PlanFile& file);

// Parts that other documents hold too, under the same keys.
nlohmann::ordered_json mesh_json(const Mesh& mesh);
nlohmann::ordered_json precision_json(const Precision& precision);

// Throws InputError naming `place` and the key.
PlanFile plan_file_from_json(const nlohmann::ordered_json& json, const std::string& place);

}  // namespace wirewise
