// All that `plan` and its relatives read from the command line, resolved: the question for the planner and
// its echo.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/planner/question.hpp"
#include "tools/inputs/words.hpp"
#include "tools/options/options.hpp"
#include "tools/render/report.hpp"

namespace CLI {
class App;
}

namespace wirewise {

// The option groups of `plan`.
struct PlanOptions {
    ModelOptions model;
    MachineOptions machine;
    TrainingOptions training;
    MoneyOptions money;
    void add_to(CLI::App& command);
};

struct Inputs {
    Question question;
    std::string placement;  // how the GPUs were chosen, for people
    std::optional<Price> price;
    double tokens_total = 0;
    std::string attention;  // as typed
    std::vector<std::string> warnings;
};

// Reads files, searches the placement. Throws InputError.
Inputs inputs_of(const PlanOptions& options);

// Every option as understood, defaults included.
Json echo_of(const Inputs& inputs);

// Parses words as the options of `plan` ("--model", "mistral-7b", ...), later ones overriding earlier ones:
// how variants of a question and measured cases are made. Throws InputError naming the option, or `place`
// with `remedy` where a word is no option.
PlanOptions plan_options_of(const std::vector<std::string>& words, const std::string& place = "--vary",
                            const std::string& remedy = "write --vary option=a,b,c with an option of `plan`");

}  // namespace wirewise
