#include "tests/step_time/measured_steps.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace wirewise {
namespace {

using Json = nlohmann::json;

ParallelPlan plan_of(const Json& row) {
    ParallelPlan plan;
    plan.strategy = *strategy_from(row.at("strategy").get<std::string>());
    plan.runtime = *runtime_from(row.at("runtime").get<std::string>());
    plan.mesh = mesh_for(plan.strategy, plan.strategy == Strategy::single ? 1 : row.at("gpus").get<int>(), 0);
    plan.sequence_length = row.at("sequence_length");
    plan.micro_batch = row.at("micro_batch");
    plan.gradient_accumulation = row.at("gradient_accumulation");
    const auto type = [&](const char* key) { return *dtype_from(row.at(key).get<std::string>()); };
    plan.precision.parameter = plan.precision.gradient = type("parameter_dtype");
    plan.precision.compute = type("compute_dtype");
    plan.precision.reduce = type("reduce_dtype");
    plan.precision.optimizer_state = type("optimizer_state_dtype");
    plan.recompute = *recompute_from(row.at("recompute").get<std::string>());
    plan.compile = row.at("compile");
    plan.loss_chunk = 0;
    return plan;
}

}  // namespace

std::vector<MeasuredStep> measured_steps(const std::string& file) {
    std::vector<MeasuredStep> steps;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const Json row = Json::parse(line);
        const Json& measured = row.at("measured");
        if (!measured.contains("step_ms") || measured.at("step_ms").is_null()) continue;
        if (row.at("compile").get<bool>()) continue;  // compiled layers are not lowered yet
        MeasuredStep step{row.at("id"), row.at("wire"), row.at("model"), {}, plan_of(row), 0};
        for (const auto& [key, value] : row.at("model_overrides").items())
            step.overrides.push_back(key + "=" + value.dump());
        step.seconds = measured.at("step_ms").get<double>() / 1000;
        steps.push_back(step);
    }
    return steps;
}

}  // namespace wirewise
