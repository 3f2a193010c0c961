// A run's step term by term: what of the prediction was wrong.
#pragma once

#include <string>
#include <vector>

#include "model/program/timeline.hpp"

namespace wirewise {

// All ops of one kind on one rank; they may overlap with others.
struct StepTerm {
    std::string name;  // "matrix products, forward", "all_gather, shard"
    std::int64_t calls = 0;
    Seconds measured, predicted;
};

// `measured` is a timeline of `program`, `predicted` one of `predicted_program`: the same step.
std::vector<StepTerm> step_terms(const StepProgram& program, const Timeline& measured,
                                 const StepProgram& predicted_program, const Timeline& predicted);

}  // namespace wirewise
