// Closed forms of what a plan keeps between steps, per GPU. They are bounds and oracles of the memory walk,
// never its substitute: the walk's persistent buffers equal them up to shard padding.
#pragma once

#include <cstdint>

#include "model/strategy/plan.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

struct States {
    Bytes parameters, gradients, optimizer, master_parameters;
    Bytes total() const { return parameters + gradients + optimizer + master_parameters; }
};

// A rank holds ceil(P / n) of what is sharded over n ranks. `parameters` is the model's exact count.
//   parameters  P b_parameter      gradients  P b_gradient      master  4 P (with --master-weights)
//   optimizer   adamw: 2 P b_state;  adamw_8bit: 2 P + 2 x 4 P / 256;  sgd: none
States states_of(std::int64_t parameters, const ParallelPlan& plan);

// Bytes of optimizer state of `count` parameters.
Bytes optimizer_state_bytes(std::int64_t count, OptimizerKind kind, DType state);

}  // namespace wirewise
