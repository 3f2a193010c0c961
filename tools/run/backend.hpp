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
    // From the profile in that file; where it is empty, from what the backend finds out about this machine.
    virtual Prediction predict(const RunInputs& inputs, const std::string& profile_file) = 0;
    // `ranks`: of the others, which are processes; null: all ranks are here. Both outlive the executor.
    virtual std::unique_ptr<Executor> make(const RunInputs& inputs, TcpRendezvous* ranks) = 0;

    // Ranks of this host where nobody says how many.
    virtual int most_ranks() const = 0;
    // Decides, for ranks that will be started here, which devices they take. Throws InputError.
    virtual void place_ranks(const RunInputs& inputs) const = 0;
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
