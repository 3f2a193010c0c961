// Where a run's steps are computed, and what is predicted for it there.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "executor/ranks/agreement.hpp"
#include "executor/ranks/tcp_rendezvous.hpp"
#include "executor/training/executor.hpp"
#include "simulator/simulate.hpp"
#include "tools/run/run_inputs.hpp"

namespace wirewise {

struct Prediction {
    StepProgram program;
    Timeline timeline;  // of one rank's step
    ExecutorMemory memory;
    std::string origin;     // of the cost profile, for people
    FlopsPerSecond peak{};  // dense, of the compute dtype, one GPU; 0: not known
    CostProfile profile;
    std::function<CollectiveCost(const CostProfile&)> wires;  // of this plan's groups
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string_view name() const = 0;
    virtual Prediction predict(const RunInputs& inputs) = 0;
    // `ranks`: of the others, which are processes; null: all ranks are here. Both outlive the executor.
    virtual std::unique_ptr<Executor> make(const RunInputs& inputs, TcpRendezvous* ranks) = 0;

    // Every rank is a process, asked for or not.
    virtual bool needs_processes() const { return false; }
    // What all ranks must have alike besides the inputs: versions of libraries, the kind of device.
    virtual std::vector<Fact> facts() const { return {}; }
    // Throws RunError, naming who holds the device's memory, where there is too little left for the plan.
    // Asked before anything is allocated.
    virtual void require_room(const RunInputs&, const Rendezvous*) const {}
};

// "cuda", "host", or empty: cuda where this build and machine have it. Throws InputError.
std::unique_ptr<Backend> backend_of(const std::string& name);

}  // namespace wirewise
