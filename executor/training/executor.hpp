// What `run` asks of a backend: load weights, compute steps, hand tensors back.
#pragma once

#include "executor/training/unit_tensors.hpp"
#include "model/program/timeline.hpp"

namespace wirewise {

struct StepResult {
    double loss = 0;
    double gradient_norm = 0;  // before clipping
    Seconds seconds;
};

enum class TensorKind : std::uint8_t { parameter, gradient };

// Of one rank.
struct ExecutorMemory {
    Bytes planned;    // the arena, as the plan's programs were walked
    Bytes allocated;  // what was really allocated for it
    Bytes used;       // with what the backend needs besides
};

// Of all ranks, or of one whose other ranks are other processes. Then every rank makes the same calls in the
// same order.
class Executor {
  public:
    virtual ~Executor() = default;

    // Holds rank 0, which speaks for all: it writes files and reports.
    virtual bool leads() const { return true; }

    virtual const std::vector<UnitTensor>& tensors() const = 0;
    virtual void load(const WeightSource& source) = 0;
    // Whether the timelines of the steps that follow hold a span per op: on a device that costs time.
    virtual void watch(bool every_op) { static_cast<void>(every_op); }
    // `tokens`: the step's sequences of all ranks, row-major. Throws RunError when a rank fails.
    virtual StepResult step(std::span<const std::int32_t> tokens) = 0;
    // A whole tensor in fp32, put together from the ranks that hold it, for the one that leads (what others
    // get is theirs alone); gradients are those of the last step.
    virtual void read(TensorKind kind, const UnitTensor& tensor, std::span<float> values) const = 0;

    virtual const StepProgram& program() const = 0;
    virtual const Timeline& timeline(int rank) const = 0;  // of the last step; the rank is held here
    virtual ExecutorMemory memory() const = 0;

    // Where in the run this process is, for people: "step 3, backward, layer 1, down". Asked from any thread.
    virtual std::string position() const { return {}; }
};

}  // namespace wirewise
