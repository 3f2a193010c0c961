// From training options to the plan template: batch, precision and runtime, the same for every strategy.
#pragma once

#include <vector>

#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"
#include "tools/options/options.hpp"

namespace wirewise {

// Throws InputError naming the option. `warnings` gets what is odd but allowed.
ParallelPlan plan_template(const TrainingOptions& options, const Transformer& model,
                           std::vector<std::string>& warnings);

// The strategies to plan for this many GPUs. "all": those the runtime has that differ on so many GPUs; named
// ones must exist.
std::vector<Strategy> strategies_of(const TrainingOptions& options, Runtime runtime, int ranks,
                                    int shard_group);

// The value, or an InputError that names the option.
std::int64_t positive(std::int64_t value, const char* option);

Runtime runtime_of(const TrainingOptions& options);

}  // namespace wirewise
