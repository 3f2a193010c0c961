// A run, resolved: model, plan, numbers and tokens that agree with one another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/training/hyperparameters.hpp"
#include "executor/training/tokens.hpp"
#include "executor/training/unit_tensors.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"
#include "tools/run/run_options.hpp"

namespace wirewise {

struct RunInputs {
    Transformer model;
    std::string config;  // the text of the model's config.json, overrides applied
    ParallelPlan plan;
    Hyperparameters numbers;
    std::unique_ptr<TokenSource> tokens;
    BatchShape batch;  // of one step, all ranks together
    std::int64_t steps = 0;
    MachineOptions machine;  // of the prediction, where the ranks do not run on the machine's CPU
    std::vector<std::string> warnings;
};

struct RankCount {
    int most = 1;                // where nobody says how many
    std::optional<int> started;  // those that a launcher has started
};
// With the host backend the machine's options do nothing: says which were written.
void warn_of_machine(const RunOptions& options, std::vector<std::string>& warnings);

// Throws InputError naming the option or file.
RunInputs run_inputs_of(const RunOptions& options, const RankCount& count);

// The checkpoint's weights, checked against the model, or seeded ones.
std::unique_ptr<WeightSource> weights_of(const RunOptions& options, const RunInputs& inputs);

}  // namespace wirewise
