#include <cstdlib>

#include <CLI/CLI.hpp>

#include "tools/commands/commands.hpp"
#include "tools/render/progress.hpp"
#include "tools/validate/validation_report.hpp"

namespace wirewise {

namespace {

struct Options {
    std::vector<std::string> files, only;
    std::string models, profile;
    OutputOptions output;
};

std::string models_folder(const Options& options) {
    if (!options.models.empty()) return options.models;
    const char* shared = std::getenv("WIREWISE_SHARED");
    return shared ? std::string(shared) + "/model_configs" : "";
}

std::string command_of(const Options& options) {
    std::string command = "wirewise validate";
    for (const std::string& file : options.files) command += " " + file;
    if (!options.models.empty()) command += " --models " + options.models;
    if (!options.profile.empty()) command += " --profile " + options.profile;
    for (const std::string& id : options.only) command += " --only " + id;
    return command + " --format markdown";
}

Report validate_command(const Options& options) {
    Progress progress("validate", options.output.quiet);
    ValidationQuestion question{options.files, {models_folder(options)}, options.profile, options.only, {}};
    question.progress = [&](std::size_t done, std::size_t total, const std::string& now) {
        progress.step(done, total, now);
    };
    const Validation validation = validate(question);
    return options.output.format == "markdown" ? accuracy_page(validation, command_of(options))
                                               : validation_report(validation);
}

}  // namespace

void add_validate_command(CommandLine& line) {
    CLI::App& command = line.add("validate", "predictions against measured cases, error by error");
    auto options = std::make_shared<Options>();
    command
        .add_option("CASES", options->files,
                    "files of measured cases or published runs, one JSON object a line")
        ->required();
    command.add_option("--models", options->models,
                       "where the cases' model configs lie [$WIREWISE_SHARED/model_configs]");
    command.add_option("--profile", options->profile,
                       "calibration profile for all cases; data-sheet: none is measured");
    command.add_option("--only", options->only, "cases whose id begins so (repeatable)")
        ->take_all()
        ->delimiter(',');
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return validate_command(*options); });
}

}  // namespace wirewise
