// A sound program of two ranks that holds every payload and every kernel of our runtime, with operands as
// model/program/kernel.hpp orders them: what each interpreter must take without leaving anything out.
#pragma once

#include "model/program/builder.hpp"
#include "model/transformer/transformer.hpp"

namespace wirewise::test {

// The model whose layer the program computes: 2 query heads and 1 key head of 4, hidden 8.
Transformer every_kernel_model();
StepProgram every_kernel();

constexpr std::int64_t kEveryTokens = 4;  // of one sequence

}  // namespace wirewise::test
