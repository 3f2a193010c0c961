#include "tools/run/run_report.hpp"

#include <fmt/format.h>

#include <sstream>

#include "model/program/trace.hpp"
#include "model/units/text.hpp"
#include "tools/run/training_loop.hpp"

namespace wirewise {

namespace {

struct Figures {
    Seconds step;
    ExecutorMemory memory;
    TimelineSummary time;
};

double tokens_per_second_per_gpu(const Figures& figures, const RunInputs& inputs) {
    return static_cast<double>(inputs.batch.tokens()) / inputs.plan.mesh.world() / figures.step.value();
}

Json figures_json(const Figures& figures, const RunInputs& inputs, FlopsPerSecond peak) {
    const double flops = tokens_per_second_per_gpu(figures, inputs) *
                         model_flops_per_token(inputs.model, inputs.plan.sequence_length);
    return {{"step_seconds", figures.step.value()},
            {"mfu", peak.value() > 0 ? Json(flops / peak.value()) : Json(nullptr)},
            {"tokens_per_second_per_gpu", tokens_per_second_per_gpu(figures, inputs)},
            {"peak_allocated_bytes", figures.memory.allocated.count()},
            {"device_used_bytes", figures.memory.used.count()},
            {"compute_seconds", figures.time.compute.value()},
            {"communication_seconds", figures.time.communication.value()},
            {"optimizer_seconds", figures.time.optimizer.value()}};
}

Table figures_table(const Figures& measured, const Figures& predicted, const RunInputs& inputs) {
    const auto row = [](const char* what, const std::string& a, const std::string& b) {
        return std::vector<std::string>{what, a, b};
    };
    const auto rate = [&](const Figures& figures) {
        return fmt::format("{:.0f}", tokens_per_second_per_gpu(figures, inputs));
    };
    return {.title = "",
            .columns = {"<", "measured", "predicted"},
            .rows = {row("step", to_text(measured.step), to_text(predicted.step)),
                     row("tokens/s per rank", rate(measured), rate(predicted)),
                     row("allocated per rank", to_text(measured.memory.allocated),
                         to_text(predicted.memory.allocated)),
                     row("in use per rank", to_text(measured.memory.used), to_text(predicted.memory.used)),
                     row("communication", to_text(measured.time.communication),
                         to_text(predicted.time.communication)),
                     row("optimizer", to_text(measured.time.optimizer), to_text(predicted.time.optimizer))}};
}

}  // namespace

Json run_inputs_json(const RunInputs& inputs, const Backend& backend) {
    const ParallelPlan& plan = inputs.plan;
    return {{"backend", backend.name()},
            {"model", inputs.model.name},
            {"parameters", inputs.model.parameters()},
            {"strategy", name_of(plan.strategy)},
            {"gpus", plan.mesh.world()},
            {"mesh", {{"replicate", plan.mesh.replicate}, {"shard", plan.mesh.shard}}},
            {"global_batch", inputs.batch.batch},
            {"sequence_length", plan.sequence_length},
            {"micro_batch", plan.micro_batch},
            {"gradient_accumulation", plan.gradient_accumulation},
            {"parameter_dtype", name_of(plan.precision.parameter)},
            {"gradient_dtype", name_of(plan.precision.gradient)},
            {"reduce_dtype", name_of(plan.precision.reduce)},
            {"compute_dtype", name_of(plan.precision.compute)},
            {"optimizer_state_dtype", name_of(plan.precision.optimizer_state)},
            {"master_weights", plan.precision.master_weights},
            {"recompute", name_of(plan.recompute)},
            {"steps", inputs.steps},
            {"seed", plan.seed}};
}

Report run_report(const RunInputs& inputs, const Backend& backend, const Executor& executor,
                  const std::vector<StepResult>& steps, const Prediction& prediction) {
    const Figures measured{median_step(steps), executor.memory(),
                           summarize(executor.program(), executor.timeline(0))};
    const Figures predicted{to_seconds(prediction.timeline.end), prediction.memory,
                            summarize(prediction.program, prediction.timeline)};
    Report report{.document = {{"schema", "wirewise.run/1"}, {"inputs", run_inputs_json(inputs, backend)}}};
    report.document["steps"] = Json::array();
    Table losses{.title = "", .columns = {"step", "loss", "gradient norm", "time"}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        report.document["steps"].push_back({{"loss", steps[i].loss},
                                            {"grad_norm", steps[i].gradient_norm},
                                            {"seconds", steps[i].seconds.value()}});
        losses.rows.push_back({std::to_string(i), fmt::format("{:.4f}", steps[i].loss),
                               fmt::format("{:.4f}", steps[i].gradient_norm), to_text(steps[i].seconds)});
    }
    report.document["measured"] = figures_json(measured, inputs, prediction.peak);
    report.document["predicted"] = figures_json(predicted, inputs, prediction.peak);
    report.document["predicted"]["profile"] = prediction.origin;
    report.document["warnings"] = inputs.warnings;
    report.tables = {losses, figures_table(measured, predicted, inputs)};
    report.records = "steps";
    report.after = {"Predicted from: " + prediction.origin + "."};
    report.warnings = inputs.warnings;
    return report;
}

std::string run_trace(const StepProgram& program, const std::vector<Timeline>& ranks,
                      const Prediction& prediction) {
    std::vector<TraceSource> sources{{"predicted", &prediction.program, &prediction.timeline}};
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
        sources.push_back({fmt::format("rank {}, measured", rank), &program, &ranks[rank]});
    std::ostringstream text;
    write_trace(text, sources);
    return text.str();
}

}  // namespace wirewise
