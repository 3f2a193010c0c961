// Runs a plan's steps on the CPU, every rank in a thread of its own, exactly as the lowered program says:
// bind, load weights, then step after step. The oracle of every strategy and of the GPU's kernels.
#pragma once

#include <functional>
#include <memory>

#include "executor/training/hyperparameters.hpp"
#include "executor/training/unit_tensors.hpp"
#include "model/program/timeline.hpp"
#include "model/program/walk.hpp"
#include "model/strategy/plan.hpp"

namespace wirewise {

struct StepResult {
    double loss = 0;
    double gradient_norm = 0;  // before clipping
    Seconds seconds;
};

// A tensor as the ranks hold it together.
enum class TensorKind : std::uint8_t { parameter, gradient };

class HostExecutor {
  public:
    struct Observer {
        // Called before every op, on the rank's thread. What it throws fails the rank.
        std::function<void(int rank, const Op& op)> before_op;
    };

    // Lowers and binds; throws InputError for a model or a plan that is priced but not computed.
    HostExecutor(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers,
                 Observer observer = {});
    ~HostExecutor();

    const std::vector<UnitTensor>& tensors() const;
    void load(const WeightSource& source);

    // `tokens`: the step's sequences of all ranks, row-major. Throws RunError when a rank fails.
    StepResult step(std::span<const std::int32_t> tokens);

    // Elements of a tensor in fp32, put together from the ranks that hold it; gradients are those of the last
    // step.
    void read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const;

    const StepProgram& program() const;
    const Timeline& timeline(int rank) const;  // of the last step
    const MemoryPeak& planned_peak() const;
    Bytes planned_bytes() const;    // of one rank's arena
    Bytes allocated_bytes() const;  // what one rank really allocated for it

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace wirewise
