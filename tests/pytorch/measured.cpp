#include "tests/pytorch/measured.hpp"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "model/strategy/pytorch/lower_pytorch.hpp"
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

MemoryPeak predicted_peak(const Transformer& model, const ParallelPlan& plan) {
    MemoryWalk walk(make_caching_allocator());
    for (const Phase phase : {Phase::load, Phase::first_step, Phase::second_step, Phase::steady_step})
        walk.run(lower_pytorch(model, plan, phase));
    return walk.peak();
}

MemoryPeak nearest_peak(const MeasuredStep& step) {
    if (step.plan.strategy != Strategy::ddp && step.plan.strategy != Strategy::zero1)
        return predicted_peak(step.model, step.plan);
    const auto error = [&](const MemoryPeak& peak) { return std::abs(peak.reserved / step.reserved - 1); };
    std::optional<MemoryPeak> best;
    for (const StaleBucket stale : {StaleBucket::freed_at_rebuild, StaleBucket::freed_at_buffer_broadcast,
                                    StaleBucket::freed_in_backward}) {
        ParallelPlan plan = step.plan;
        plan.stale_bucket = stale;
        const MemoryPeak peak = predicted_peak(step.model, plan);
        if (!best || error(peak) < error(*best)) best = peak;
    }
    return *best;
}

}  // namespace wirewise
