#include <unistd.h>

#include <filesystem>

#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/files.hpp"
#include "tools/run/run_calibration.hpp"
#include "tools/run/run_report.hpp"
#include "tools/run/training_loop.hpp"

namespace wirewise {

namespace {

// Better now than after a day of training.
void require_writable(const std::string& path, const char* option) {
    if (path.empty()) return;
    std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();  // "folder/" is the folder
    const std::filesystem::path parent = whole.parent_path();
    if (::access(parent.c_str(), W_OK) != 0)
        throw InputError(option, "nothing can be written to " + parent.string(),
                         "name a folder that may be written");
}

void require_another_folder(const RunOptions& options) {
    std::error_code error;
    if (!options.save.empty() && !options.checkpoint.empty() &&
        std::filesystem::equivalent(options.save, options.checkpoint, error))
        throw InputError("--save", options.save + " is the folder of --checkpoint", "name another folder");
}

void require_one_node(const RunOptions& options) {
    if (options.machine.nodes != 1)
        throw InputError("--nodes", "ranks run on this machine alone", "leave it out; --gpus says how many");
    if (!options.machine.gpu_ids.empty())
        throw InputError("--gpu-ids", "ranks run on this machine's CPU", "write --gpus with their number");
}

// --calibrate improves the profile that it predicts from.
std::string profile_file(const RunOptions& options) {
    if (!options.training.profile.empty()) return options.training.profile;
    return std::filesystem::exists(options.calibrate) ? options.calibrate : "";
}

Report run(const RunOptions& options) {
    const InterruptWatch interrupt;
    require_one_node(options);
    require_another_folder(options);
    require_writable(options.save, "--save");
    require_writable(options.save_gradients, "--save-gradients");
    require_writable(options.trace, "--trace");
    require_writable(options.calibrate, "--calibrate");
    const RunInputs inputs = run_inputs_of(options);
    const auto backend = backend_of(options.backend);
    const Prediction prediction = backend->predict(inputs, profile_file(options));
    interrupt.check();
    const auto executor = backend->make(inputs);
    executor->load(*weights_of(options, inputs, executor->tensors()));
    const std::vector<StepResult> steps = train(*executor, inputs, options, interrupt);
    if (!options.trace.empty())
        write_file(options.trace, run_trace(*executor, inputs.plan.mesh.world(), prediction), "--trace");
    Report report = run_report(inputs, *backend, *executor, steps, prediction);
    if (!options.calibrate.empty()) add_calibration(options.calibrate, *executor, inputs, prediction, report);
    return report;
}

}  // namespace

void add_run_command(CommandLine& line) {
    CLI::App& command =
        line.add("run", "train for real, exactly as the plan says, and compare with the prediction");
    auto options = std::make_shared<RunOptions>();
    options->add_to(command);
    line.answer(command, options->output, [options] { return run(*options); });
}

}  // namespace wirewise
