#include "tests/pytorch/measured.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "model/transformer/read_config.hpp"

namespace wirewise {

namespace {

using nlohmann::json;

ParallelPlan plan_of(const json& row) {
    const auto type = [&](const char* key) { return *dtype_from(row.at(key).get<std::string>()); };
    ParallelPlan plan;
    plan.runtime = Runtime::pytorch;
    plan.strategy = *strategy_from(row.at("strategy").get<std::string>());
    plan.mesh = mesh_for(plan.strategy, row.at("gpus"), 0);
    plan.sequence_length = row.at("sequence_length");
    plan.micro_batch = row.at("micro_batch");
    plan.gradient_accumulation = row.at("gradient_accumulation");
    plan.precision.parameter = plan.precision.gradient = type("parameter_dtype");
    plan.precision.compute = type("compute_dtype");
    plan.precision.reduce = type("reduce_dtype");
    plan.precision.optimizer_state = type("optimizer_state_dtype");
    plan.recompute = *recompute_from(row.at("recompute").get<std::string>());
    plan.compile = row.at("compile");
    plan.loss_chunk = 0;
    return plan;
}

Transformer model_of(const json& row) {
    std::vector<std::string> overrides;
    for (const auto& [key, value] : row.at("model_overrides").items())
        overrides.push_back(key + "=" + value.dump());
    return load_model(std::string(WIREWISE_FIXTURES) + "/" + row.at("model").get<std::string>(), overrides);
}

std::vector<MeasuredStep> read() {
    std::ifstream file(std::string(WIREWISE_FIXTURES) + "/training_steps.jsonl");
    std::vector<MeasuredStep> steps;
    for (std::string line; std::getline(file, line);) {
        const json row = json::parse(line);
        const json& measured = row.at("measured");
        steps.push_back({row.at("id"), model_of(row), plan_of(row),
                         Bytes(measured.at("peak_allocated_bytes").get<std::int64_t>()),
                         Bytes(measured.at("peak_reserved_bytes").get<std::int64_t>())});
    }
    return steps;
}

}  // namespace

const std::vector<MeasuredStep>& measured_steps() {
    static const std::vector<MeasuredStep> steps = read();
    return steps;
}

const MeasuredStep& measured_step(const std::string& id) {
    for (const MeasuredStep& step : measured_steps())
        if (step.id == id) return step;
    throw std::out_of_range(id);
}

MemoryPeak nearest_peak(const MeasuredStep& step) {
    std::vector<PytorchMemory> states = predict_pytorch_memory(step.model, step.plan);
    const auto error = [&](const PytorchMemory& memory) {
        return std::abs(memory.peak.reserved / step.reserved - 1);
    };
    return std::ranges::min_element(states, {}, error)->peak;
}

}  // namespace wirewise
