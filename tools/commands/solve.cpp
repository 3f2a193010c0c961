#include "simulator/planner/solve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/inputs.hpp"
#include "tools/inputs/training.hpp"
#include "tools/render/money.hpp"
#include "tools/render/plan_json.hpp"
#include "tools/render/progress.hpp"

namespace wirewise {

namespace {

struct Options {
    PlanOptions plan;
    OutputOptions output;
    std::string what;
};

Report empty_report(const std::string& what, const Inputs& inputs) {
    Report report;
    report.document = {{"schema", "wirewise.solve/1"},
                       {"solve", what},
                       {"inputs", echo_of(inputs)},
                       {"solutions", Json::array()}};
    report.records = "solutions";
    report.warnings = inputs.warnings;
    return report;
}

// Per strategy: the largest batch or sequence that fits.
Report largest(const Options& options, SolveFor what) {
    constexpr std::int64_t kSequenceStep = 128;
    const Inputs inputs = inputs_of(options.plan);
    Report report = empty_report(options.what, inputs);
    Progress progress("solve", options.output.quiet);
    report.tables.push_back({"", {"<strategy", options.what, "memory", "tokens/s", "<next limit"}, {}, -1});
    bool any = false;
    for (const Strategy strategy : inputs.question.strategies) {
        progress.step(report.tables.front().rows.size(), inputs.question.strategies.size(),
                      std::string(name_of(strategy)));
        const Solution found =
            solve(inputs.question, strategy, what, what == SolveFor::max_sequence ? kSequenceStep : 1);
        any = any || found.value;
        Json json{{"strategy", name_of(strategy)},
                  {"value", found.value ? Json(*found.value) : Json(nullptr)},
                  {"next_limit", found.next_limit}};
        if (found.candidate) json["candidate"] = candidate_json(*found.candidate, inputs);
        report.document["solutions"].push_back(json);
        report.tables.front().rows.push_back(
            {std::string(name_of(strategy)), found.value ? std::to_string(*found.value) : "none",
             found.candidate ? to_text(found.candidate->estimate.device_used()) : "",
             found.candidate ? fmt::format("{:.0f}", found.candidate->throughput.tokens_per_second) : "",
             found.next_limit});
    }
    report.exit_code = any ? 0 : 3;
    return report;
}

struct Choice {
    int gpus;
    Inputs inputs;
    PlanCandidate candidate;
    std::string why;
};

// The recommended plan for every number of GPUs that has one.
std::vector<Choice> choices_by_count(const Options& options, bool first_only) {
    std::vector<Choice> choices;
    PlanOptions plan = options.plan;
    const int most = plan.machine.gpus ? static_cast<int>(positive(*plan.machine.gpus, "--gpus"))
                                       : inputs_of(plan).question.machine.gpus_per_server();
    Progress progress("solve", options.output.quiet);
    for (int gpus = 1; gpus <= most; ++gpus) {
        progress.step(static_cast<std::size_t>(gpus), static_cast<std::size_t>(most),
                      fmt::format("{} GPUs", gpus));
        plan.machine.gpus = gpus;
        if (plan.machine.nodes * gpus == 1)
            plan.training.strategy = "single";
        else
            plan.training.strategy = options.plan.training.strategy;
        Inputs inputs = inputs_of(plan);
        const Answer result = answer(inputs.question);
        if (!result.recommended) continue;
        choices.push_back({gpus * plan.machine.nodes, std::move(inputs),
                           result.candidates[*result.recommended], result.why});
        if (first_only) break;
    }
    return choices;
}

double cost_of(const Choice& choice) { return job_of(choice.inputs, choice.candidate).cost.value(); }

Report fewest_or_cheapest(const Options& options, bool cheapest) {
    if (cheapest && (options.plan.money.price.empty() || options.plan.money.tokens_total <= 0))
        throw InputError("wirewise solve cheapest", "needs a price and a number of tokens",
                         "add --price \"2.10 USD/GPU/h\" --tokens-total 1e9");
    if (!options.plan.machine.gpu_ids.empty())
        throw InputError("--gpu-ids", "fixes what is searched for",
                         "leave it out, or write --gpus for the most");
    const auto choices = choices_by_count(options, !cheapest);
    Report report =
        empty_report(options.what, choices.empty() ? inputs_of(options.plan) : choices.front().inputs);
    report.tables.push_back({"", {"GPUs", "<strategy", "memory", "tokens/s", "<whole job"}, {}, -1});
    for (const Choice& choice : choices) {
        report.document["solutions"].push_back(
            {{"gpus", choice.gpus},
             {"candidate", candidate_json(choice.candidate, choice.inputs)},
             {"why", choice.why}});
        report.tables.front().rows.push_back(
            {std::to_string(choice.gpus), std::string(name_of(choice.candidate.plan.strategy)),
             to_text(choice.candidate.estimate.device_used()),
             fmt::format("{:.0f}", choice.candidate.throughput.tokens_per_second),
             options.plan.money.tokens_total > 0 ? to_text(job_of(choice.inputs, choice.candidate)) : ""});
    }
    const auto best =
        cheapest ? std::min_element(choices.begin(), choices.end(),
                                    [](const auto& a, const auto& b) { return cost_of(a) < cost_of(b); })
                 : choices.begin();
    report.document["best"] = best == choices.end() ? Json(nullptr) : Json(best - choices.begin());
    if (best != choices.end()) report.tables.front().marked_row = static_cast<int>(best - choices.begin());
    report.after.push_back(best == choices.end() ? "nothing fits on this machine"
                                                 : fmt::format("{} GPUs: {}", best->gpus, best->why));
    report.exit_code = best == choices.end() ? 3 : 0;
    return report;
}

Report solve_for(const Options& options) {
    if (options.what == "max-micro-batch") return largest(options, SolveFor::max_micro_batch);
    if (options.what == "max-sequence") return largest(options, SolveFor::max_sequence);
    if (options.what == "min-gpus") return fewest_or_cheapest(options, false);
    if (options.what == "cheapest") return fewest_or_cheapest(options, true);
    throw InputError("wirewise solve", fmt::format("cannot solve for \"{}\"", options.what),
                     "write max-micro-batch, max-sequence, min-gpus or cheapest");
}

}  // namespace

void add_solve_command(CommandLine& line) {
    CLI::App& command =
        line.add("solve", "the largest batch or sequence, the fewest GPUs, the cheapest plan that fits");
    auto options = std::make_shared<Options>();
    command.add_option("WHAT", options->what, "max-micro-batch, max-sequence, min-gpus, cheapest")
        ->required();
    options->plan.add_to(command);
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return solve_for(*options); });
}

}  // namespace wirewise
