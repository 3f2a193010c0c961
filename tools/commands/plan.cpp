#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>

#include "model/program/trace.hpp"
#include "model/strategy/lower.hpp"
#include "simulator/planner/candidate.hpp"
#include "simulator/planner/plan_file.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/beside.hpp"
#include "tools/inputs/files.hpp"
#include "tools/inputs/inputs.hpp"
#include "tools/render/page.hpp"
#include "tools/render/plan_text.hpp"
#include "tools/render/progress.hpp"

namespace wirewise {

namespace {

struct Options {
    PlanOptions plan;
    OutputOptions output;
    std::string plan_out, trace, report;
};

// The recommended plan, else the one nearest to fitting.
const PlanCandidate& chosen(const Answer& answer) {
    if (answer.recommended) return answer.candidates[*answer.recommended];
    return *std::min_element(answer.candidates.begin(), answer.candidates.end(),
                             [](const PlanCandidate& a, const PlanCandidate& b) {
                                 return a.estimate.device_used() < b.estimate.device_used();
                             });
}

void write_plan(const Options& options, const Inputs& inputs, const PlanCandidate& candidate) {
    const PlanFile file{stored_beside(options.plan.model.model, options.plan_out),
                        options.plan.model.set,
                        stored_beside(options.plan.machine.machine, options.plan_out),
                        inputs.question.machine.servers,
                        candidate.gpus,
                        options.plan.machine.nccl_env,
                        options.plan.training.max_grad_norm,
                        candidate.plan};
    write_file(options.plan_out, to_json(file).dump(2) + "\n", "--plan-out");
}

void write_step_trace(const Options& options, const Inputs& inputs, const PlanCandidate& candidate) {
    const Question& question = inputs.question;
    const Site site = site_of(question, candidate.gpus);
    const ParallelPlan plan = with_walked_micro_batches(candidate.plan);
    const StepProgram program = lower(question.model, plan, Phase::steady_step);
    const Timeline timeline = simulate_on(site, plan, program);
    const std::string name =
        plan == candidate.plan
            ? "rank 0, predicted"
            : fmt::format("rank 0, predicted, {} of the {} micro-batches", plan.gradient_accumulation,
                          candidate.plan.gradient_accumulation);
    const TraceSource source{name, &program, &timeline};
    std::ostringstream text;
    write_trace(text, std::span(&source, 1));
    write_file(options.trace, text.str(), "--trace");
}

Report plan(const Options& options) {
    Inputs inputs = inputs_of(options.plan);
    Progress progress("plan", options.output.quiet);
    inputs.question.progress = [&](std::size_t done, std::size_t total, std::string_view now) {
        progress.step(done, total, std::string(now));
    };
    const Answer result = answer(inputs.question);
    if (!options.plan_out.empty()) write_plan(options, inputs, chosen(result));
    if (!options.trace.empty()) write_step_trace(options, inputs, chosen(result));
    if (!options.report.empty()) write_file(options.report, plan_page(inputs, result), "--report");
    return plan_report(inputs, result);
}

}  // namespace

void add_plan_command(CommandLine& line) {
    CLI::App& command =
        line.add("plan", "memory and throughput of every strategy, ranked, with a recommendation");
    auto options = std::make_shared<Options>();
    options->plan.add_to(command);
    options->output.add_to(command);
    command.add_option("--plan-out", options->plan_out, "write the recommended plan to this file")
        ->group("Output");
    command.add_option("--trace", options->trace, "write the recommended plan's step as a Perfetto trace")
        ->group("Output");
    command
        .add_option("--report", options->report,
                    "write the whole answer as one HTML page that needs no network")
        ->group("Output");
    line.answer(command, options->output, [options] { return plan(*options); });
}

}  // namespace wirewise
