#include <CLI/CLI.hpp>

#include "model/transformer/read_config.hpp"
#include "tools/commands/commands.hpp"
#include "tools/render/model_report.hpp"

namespace wirewise {

namespace {

struct Options {
    ModelOptions model;
    OutputOptions output;
    bool list = false;
};

Report list_report() {
    Report report;
    report.document = {{"schema", "wirewise.models/1"}, {"models", Json::array()}};
    report.records = "models";
    report.tables.push_back({"", {"<name", "<repository"}, {}, -1});
    for (const BuiltinModel& model : builtin_models()) {
        report.document["models"].push_back(
            {{"name", model.name}, {"repository", model.repository}, {"source", model.source}});
        report.tables.front().rows.push_back({model.name, model.repository});
    }
    return report;
}

// A config that is read but not modelled is an answer too: the document says why, and the exit code is that
// of bad input.
Report answer(const Options& options) try {
    if (options.list) return list_report();
    return model_report(load_model(options.model.model, options.model.set));
} catch (const UnsupportedModel& error) {
    Report report;
    report.document = {{"schema", "wirewise.model/1"},
                       {"supported", false},
                       {"why", error.problem()},
                       {"place", error.place()},
                       {"remedy", error.remedy()}};
    report.before.push_back("not supported");
    report.errors.push_back(error.what());
    report.exit_code = 2;
    return report;
}

}  // namespace

void add_model_command(CommandLine& line) {
    CLI::App& command = line.add("model", "exact parameter counts of a config.json");
    auto options = std::make_shared<Options>();
    CLI::Option* list = command.add_flag("--list", options->list, "the built-in models");
    options->model.add_to(command, true)->excludes(list);
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return answer(*options); });
}

}  // namespace wirewise
