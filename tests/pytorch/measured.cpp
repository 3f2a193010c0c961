#include "tests/pytorch/measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
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
    plan.mesh = mesh_for(plan.strategy, row.at("gpus"), row.value("shard_group", 0));
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
    plan.gradient_as_bucket_view = row.value("gradient_as_bucket_view", true);
    plan.fsdp_version = row.value("fsdp_version", 2);
    plan.limit_all_gathers = row.value("limit_all_gathers", true);
    plan.use_orig_params = row.value("use_orig_params", true);
    plan.no_sync = row.value("no_sync", true);
    plan.window_mask = row.value("window_mask", false);
    plan.clip_gradients = row.contains("max_grad_norm");
    if (row.value("optimizer", "") == "adamw_foreach") plan.optimizer = OptimizerKind::adamw_foreach;
    return plan;
}

// Beside the rows, among the models of the committed cases, or built in.
std::string place_of_model(const std::string& folder, const std::string& file) {
    for (const std::string& place :
         {folder, std::string(WIREWISE_SOURCE_FOLDER "/tests/validate/cases/models")})
        if (std::filesystem::exists(place + "/" + file)) return place + "/" + file;
    return std::filesystem::path(file).stem().string();
}

Transformer model_of(const json& row, const std::string& folder) {
    std::vector<std::string> overrides;
    if (row.contains("model_overrides"))
        for (const auto& [key, value] : row.at("model_overrides").items())
            overrides.push_back(key + "=" + value.dump());
    return load_model(place_of_model(folder, row.at("model")), overrides);
}

std::vector<MeasuredStep> read(const std::string& folder, const std::string& name) {
    std::ifstream file(folder + "/" + name);
    std::vector<MeasuredStep> steps;
    for (std::string line; std::getline(file, line);) {
        const json row = json::parse(line);
        const json& measured = row.at("measured");
        if (!measured.contains("peak_allocated_bytes")) continue;
        steps.push_back({row.at("id"), model_of(row, folder), plan_of(row),
                         Bytes(measured.at("peak_allocated_bytes").get<std::int64_t>()),
                         Bytes(measured.at("peak_reserved_bytes").get<std::int64_t>()), row.value("wire", ""),
                         Seconds(1e-3 * measured.at("step_ms").get<double>())});
    }
    return steps;
}

}  // namespace

const std::vector<MeasuredStep>& measured_steps() {
    static const std::vector<MeasuredStep> steps = read(WIREWISE_FIXTURES, "training_steps.jsonl");
    return steps;
}

std::vector<MeasuredStep> sampled_steps(const std::string& machine) {
    const std::string folder = machine == "h200-x2" ? WIREWISE_SOURCE_FOLDER "/calibration/samples"
                               : machine == "fsdp1" ? WIREWISE_SOURCE_FOLDER "/tests/validate/cases"
                                                    : WIREWISE_FIXTURES;
    return read(folder, "pytorch_steps_" + machine + ".jsonl");
}

std::vector<TracedStep> traced_steps() {
    std::ifstream file(WIREWISE_FIXTURES "/traces.jsonl");
    std::vector<TracedStep> steps;
    for (std::string line; std::getline(file, line);) {
        const json row = json::parse(line);
        TracedStep step{row.at("model"),
                        model_of(row, WIREWISE_FIXTURES),
                        {},
                        Bytes(row.at("forward_peak").get<std::int64_t>()),
                        Bytes(row.at("backward_peak").get<std::int64_t>())};
        step.plan.runtime = Runtime::pytorch;
        step.plan.sequence_length = row.at("sequence_length");
        step.plan.micro_batch = row.at("micro_batch");
        step.plan.recompute = *recompute_from(row.at("recompute").get<std::string>());
        step.plan.loss_chunk = 0;
        step.plan.window_mask = true;
        const DType type = *dtype_from(row.at("dtype").get<std::string>());
        step.plan.precision = {type, type, type, type, type, false};
        steps.push_back(std::move(step));
    }
    return steps;
}

const MeasuredStep& measured_step(const std::string& id) {
    for (const MeasuredStep& step : measured_steps())
        if (step.id == id) return step;
    throw std::out_of_range(id);
}

WalkedPhases nearest_walk(const MeasuredStep& step) {
    constexpr std::array kStates{StaleBucket::freed_at_rebuild, StaleBucket::freed_at_buffer_broadcast,
                                 StaleBucket::freed_in_backward};
    const auto error = [&](const WalkedPhases& walked) {
        return std::abs(walked.peak.allocated / step.allocated - 1) +
               0.1 * std::abs(walked.reserved / step.reserved - 1);
    };
    ParallelPlan plan = step.plan;
    WalkedPhases nearest = walk_phases(step.model, plan);
    if (!has_stale_bucket(plan)) return nearest;
    for (const StaleBucket state : kStates) {
        plan.stale_bucket = state;
        WalkedPhases walked = walk_phases(step.model, plan);
        if (error(walked) < error(nearest)) nearest = std::move(walked);
    }
    return nearest;
}

}  // namespace wirewise
