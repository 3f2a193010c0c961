#include "tools/run/run_report.hpp"

#include <fmt/format.h>

#include <sstream>

#include "model/program/trace.hpp"
#include "model/units/text.hpp"
#include "simulator/planner/plan_file.hpp"
#include "tools/run/step_term.hpp"
#include "tools/run/training_loop.hpp"
#include "tools/run/wire_use.hpp"

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

Json wires_json(const std::vector<WireUse>& uses) {
    Json json = Json::array();
    for (const WireUse& use : uses)
        json.push_back({{"collective", name_of(use.kind)},
                        {"axis", name_of(use.axis)},
                        {"transport", use.transport.empty() ? Json(nullptr) : Json(use.transport)},
                        {"calls", use.calls},
                        {"buffer_bytes", use.buffers.count()},
                        {"sent_bytes_per_rank", use.sent.count()}});
    return json;
}

Json terms_json(const std::vector<StepTerm>& terms) {
    Json json = Json::array();
    for (const StepTerm& term : terms)
        json.push_back({{"term", term.name},
                        {"calls", term.calls},
                        {"measured_seconds", term.measured.value()},
                        {"predicted_seconds", term.predicted.value()}});
    return json;
}

Table terms_table(const std::vector<StepTerm>& terms) {
    Table table{.title = "The last step, term by term (terms overlap)",
                .columns = {"<", "calls", "measured", "predicted"}};
    for (const StepTerm& term : terms)
        table.rows.push_back(
            {term.name, std::to_string(term.calls), to_text(term.measured), to_text(term.predicted)});
    return table;
}

Table wires_table(const std::vector<WireUse>& uses) {
    Table table{.title = "On the wires, each rank and step",
                .columns = {"<", "<along", "<over", "calls", "sent"}};
    for (const WireUse& use : uses)
        table.rows.push_back({std::string(name_of(use.kind)), std::string(name_of(use.axis)), use.transport,
                              std::to_string(use.calls), to_text(use.sent)});
    return table;
}

}  // namespace

Json run_inputs_json(const RunInputs& inputs, const Backend& backend) {
    const ParallelPlan& plan = inputs.plan;
    Json json{{"backend", backend.name()},
              {"model", inputs.model.name},
              {"parameters", inputs.model.parameters()},
              {"strategy", name_of(plan.strategy)},
              {"gpus", plan.mesh.world()},
              {"mesh", {{"replicate", plan.mesh.replicate}, {"shard", plan.mesh.shard}}},
              {"global_batch", inputs.batch.batch},
              {"sequence_length", plan.sequence_length},
              {"micro_batch", plan.micro_batch},
              {"gradient_accumulation", plan.gradient_accumulation}};
    json.update(precision_json(plan.precision));
    json.update({{"recompute", name_of(plan.recompute)}, {"steps", inputs.steps}, {"seed", plan.seed}});
    return json;
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
    const std::vector<WireUse> uses = wire_uses(executor.program(), prediction);
    const std::vector<StepTerm> terms =
        step_terms(executor.program(), executor.timeline(0), prediction.program, prediction.timeline);
    report.document["terms"] = terms_json(terms);
    report.document["wires"] = wires_json(uses);
    report.document["warnings"] = inputs.warnings;
    report.tables = {losses, figures_table(measured, predicted, inputs)};
    report.tables.push_back(terms_table(terms));
    if (!uses.empty()) report.tables.push_back(wires_table(uses));
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
