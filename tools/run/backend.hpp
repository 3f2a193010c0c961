// Where a run's steps are computed, and what is predicted for it there.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "executor/training/executor.hpp"
#include "simulator/simulate.hpp"
#include "tools/run/run_inputs.hpp"

namespace wirewise {

struct Prediction {
    StepProgram program;
    Timeline timeline;  // of one rank's step
    ExecutorMemory memory;
    std::string origin;  // of the cost profile, for people
    CostProfile profile;
    std::function<CollectiveCost(const CostProfile&)> wires;  // of this plan's groups
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string_view name() const = 0;
    // From the profile in that file; where it is empty, from what the backend finds out about this machine.
    virtual Prediction predict(const RunInputs& inputs, const std::string& profile_file) = 0;
    virtual std::unique_ptr<Executor> make(const RunInputs& inputs) = 0;
};

// "cuda", "host", or empty: cuda where this build and machine have it. Throws InputError.
std::unique_ptr<Backend> backend_of(const std::string& name);

}  // namespace wirewise
