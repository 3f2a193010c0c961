#include "tools/export/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "tools/commands/commands.hpp"
#include "tools/inputs/inputs.hpp"

namespace wirewise {

namespace {

struct Options {
    PlanOptions plan;
    OutputOptions output;
    std::string launcher;
};

LaunchPlan launch_plan(const Options& options, const Inputs& inputs, const PlanCandidate& candidate) {
    const int nodes = candidate.plan.mesh.world() == 1 ? 1 : inputs.question.machine.servers;
    std::vector<int> of_node = candidate.gpus;
    of_node.resize(candidate.gpus.size() / static_cast<std::size_t>(nodes));
    return {candidate.plan, of_node, nodes, options.plan.machine.nccl_env, inputs.question.model.name};
}

Json launch_json(const std::string& launcher, const Launch& launch, const Answer& answer) {
    Json files = Json::array();
    for (const LaunchFile& file : launch.files) files.push_back({{"name", file.name}, {"text", file.text}});
    return {{"schema", "wirewise.export/1"},
            {"for", launcher},
            {"strategy", name_of(answer.candidates[*answer.recommended].plan.strategy)},
            {"environment", launch.environment},
            {"command", launch.command},
            {"files", files},
            {"notes", launch.notes},
            {"why", answer.why}};
}

Report export_plan(const Options& options) {
    const Inputs inputs = inputs_of(options.plan);
    const Answer result = answer(inputs.question);
    Report report;
    report.warnings = inputs.warnings;
    if (!result.recommended) {
        report.document = {{"schema", "wirewise.export/1"},
                           {"for", options.launcher},
                           {"command", nullptr},
                           {"why", result.why}};
        report.errors.push_back(result.why);
        report.exit_code = 3;
        return report;
    }
    const Launch launch =
        launch_for(options.launcher, launch_plan(options, inputs, result.candidates[*result.recommended]));
    report.document = launch_json(options.launcher, launch, result);
    report.warnings.insert(report.warnings.end(), launch.unsaid.begin(), launch.unsaid.end());
    for (const LaunchFile& file : launch.files) report.before.push_back("# " + file.name + "\n" + file.text);
    report.before.push_back(fmt::format("{} {}", fmt::join(launch.environment, " "), launch.command));
    for (const std::string& note : launch.notes) report.after.push_back("note: " + note);
    report.after.push_back("recommended: " + result.why);
    return report;
}

}  // namespace

void add_export_command(CommandLine& line) {
    CLI::App& command = line.add("export", "launch command and configuration of the recommended plan");
    auto options = std::make_shared<Options>();
    command.add_option("--for", options->launcher, "torchrun, accelerate, deepspeed, torchtitan, megatron")
        ->required();
    options->plan.add_to(command);
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return export_plan(*options); });
}

}  // namespace wirewise
