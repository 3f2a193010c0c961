#include <CLI/CLI.hpp>

#include "tools/commands/commands.hpp"
#include "tools/inputs/files.hpp"
#include "tools/run/run_report.hpp"
#include "tools/run/training_loop.hpp"

namespace wirewise {

namespace {

Report run(const RunOptions& options) {
    const InterruptWatch interrupt;
    const RunInputs inputs = run_inputs_of(options);
    const auto backend = backend_of(options.backend);
    const Prediction prediction = backend->predict(inputs);
    interrupt.check();
    const auto executor = backend->make(inputs);
    executor->load(*weights_of(options, inputs, executor->tensors()));
    const std::vector<StepResult> steps = train(*executor, inputs, options, interrupt);
    if (!options.trace.empty())
        write_file(options.trace, run_trace(*executor, inputs.plan.mesh.world(), prediction), "--trace");
    return run_report(inputs, *backend, *executor, steps, prediction);
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
