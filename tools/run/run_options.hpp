// What `run` takes on the command line: the options of `plan`, and what a real run needs besides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/options/options.hpp"
#include "tools/run/rank_options.hpp"

namespace wirewise {

struct RunOptions {
    ModelOptions model;
    MachineOptions machine;
    TrainingOptions training;
    OutputOptions output;
    RankOptions ranks;
    std::string plan;     // a file of plan --plan-out
    std::string backend;  // cuda, host; empty: cuda where there is a GPU
    std::string checkpoint, tokens, token_width;
    std::optional<std::int64_t> steps;  // those of the token file, else 10
    double learning_rate = 1e-3, epsilon = 1e-8, weight_decay = 0.1;
    std::string betas = "0.9,0.95";
    bool stochastic_rounding = false;
    std::uint64_t seed = 1;
    std::string save, save_gradients, trace, calibrate;
    void add_to(CLI::App& command);
};

}  // namespace wirewise
