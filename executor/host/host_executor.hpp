// Runs a plan's steps on the CPU exactly as the lowered program says: bind, load weights, then step after
// step. Every rank is a thread of this process, or one is here and the others are other processes. The oracle
// of every strategy and of the GPU's kernels.
#pragma once

#include <memory>

#include "executor/host/before_op.hpp"
#include "executor/host/process_rank.hpp"
#include "executor/training/executor.hpp"
#include "executor/training/hyperparameters.hpp"
#include "model/strategy/plan.hpp"

namespace wirewise {

// Lowers, verifies and binds; throws InputError for a model or a plan that is priced but not computed.
// `model` must outlive the executor.
std::unique_ptr<Executor> make_host_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, BeforeOp before_op = {});

// One rank; `own.groups` must outlive the executor.
std::unique_ptr<Executor> make_host_executor(const Transformer& model, const ParallelPlan& plan,
                                             const Hyperparameters& numbers, const ProcessRank& own,
                                             BeforeOp before_op = {});

// What a rank needs beside its arena: room for widened operands and attention scores.
Bytes host_scratch(const StepProgram& program);

}  // namespace wirewise
