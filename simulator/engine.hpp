// Runs priced tasks: advances from one end of a task to the next, with the rates that hold while the set of
// running tasks stays the same.
#pragma once

#include "simulator/tasks.hpp"

namespace wirewise {

struct RunSettings {
    Picoseconds host_lead = 0;  // how far ahead of the GPU the host begins
    double gemm_factor = 1;     // the power limit's effect
};

Timeline run(const StepTasks& tasks, const ContentionCosts& contention, const RunSettings& settings);

}  // namespace wirewise
