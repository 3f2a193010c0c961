#include "tools/run/run_options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace wirewise {

namespace {

void add_data(CLI::App& command, RunOptions& to) {
    const char* group = "Data";
    command.add_option("--checkpoint", to.checkpoint, "a Hugging Face folder: config and weights")
        ->group(group);
    command
        .add_option(
            "--tokens", to.tokens,
            "safetensors with `tokens` [steps, batch, sequence] (sets batch and sequence), or a flat file of "
            "uint16 or uint32 [generated]")
        ->group(group);
    command
        .add_option("--token-width", to.token_width,
                    "of a flat file: uint16, uint32 [what the vocabulary needs]")
        ->group(group);
    command.add_option("--steps", to.steps, "[those of the token file, else 10]")->group(group);
    command.add_option("--seed", to.seed, "of initial weights and generated tokens [1]")->group(group);
}

void add_numbers(CLI::App& command, RunOptions& to) {
    const char* group = "Precision and optimizer";
    command.add_option("--learning-rate", to.learning_rate, "[1e-3]")->group(group);
    command.add_option("--betas", to.betas, "[0.9,0.95]")->group(group);
    command.add_option("--eps", to.epsilon, "[1e-8]")->group(group);
    command
        .add_flag("--stochastic-rounding", to.stochastic_rounding,
                  "round updated bf16 parameters up or down at random, which keeps the mean")
        ->group(group);
    command.add_option("--weight-decay", to.weight_decay, "decoupled, on every parameter [0.1]")
        ->group(group);
}

void add_outputs(CLI::App& command, RunOptions& to) {
    const char* group = "Output";
    command.add_option("--save", to.save, "write the trained model to this folder, as transformers loads it")
        ->group(group);
    command
        .add_option("--save-gradients", to.save_gradients, "write the first step's gradients (safetensors)")
        ->group(group);
    command
        .add_option("--calibrate", to.calibrate,
                    "fit this profile to what the run measured, op by op; written where it is not there yet")
        ->group(group);
    command.add_option("--trace", to.trace, "measured and predicted timeline as one Perfetto trace")
        ->group(group);
}

}  // namespace

void RunOptions::add_to(CLI::App& command) {
    CLI::Option* file =
        command.add_option("--plan", plan,
                           "a file that plan --plan-out wrote, instead of the strategy, batch "
                           "and precision below");
    command.add_option("--backend", backend, "cuda, host [cuda where there is a GPU]");
    model.add_to(command);
    machine.add_to(command);
    command.get_option("--machine")->required(false);
    std::vector<CLI::Option*> before = command.get_options();
    training.add_to(command);
    for (CLI::Option* option : command.get_options())
        if (std::find(before.begin(), before.end(), option) == before.end()) file->excludes(option);
    output.add_to(command);
    ranks.add_to(command);
    add_data(command, *this);
    add_numbers(command, *this);
    add_outputs(command, *this);
}

}  // namespace wirewise
