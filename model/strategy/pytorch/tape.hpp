// Autograd: forward ops record what their backward keeps and does; backward runs the records from the newest
// to the oldest. That is the engine's own order: of the ready nodes the one with the highest sequence number
// goes first, and in a tape without branches left open that is the newest. AccumulateGrad of a weight runs as
// soon as its last gradient arrives. Source: torch/csrc/autograd/{engine,input_buffer}.cpp, read 2026-11
// (2.11).
#pragma once

#include <functional>
#include <initializer_list>

#include "model/strategy/pytorch/kept_outputs.hpp"
#include "model/strategy/pytorch/tensor.hpp"

namespace wirewise {

// Owns the weights a tape reads, and takes their gradients.
class WeightOwner {
  public:
    virtual ~WeightOwner() = default;
    virtual BufferId readable(WeightId weight) const = 0;
    // AccumulateGrad and its hooks: the complete gradient of one weight in this micro-batch.
    virtual void take_gradient(WeightId weight, Tensor gradient) = 0;
};

class Tape {
  public:
    Tape(ProgramBuilder& build, StreamId stream, std::size_t weights)
        : storages(build, stream), leaves_(weights) {}

    void set_owner(WeightOwner& owner) { owner_ = &owner; }
    WeightOwner& owner() { return *owner_; }

    // A weight as an op's input.
    Tensor leaf(WeightId weight, std::int64_t rows, std::int64_t columns, DType type) const;

    struct Operands {  // what a kernel reads and writes, in allocation order
        const Tensor& tensor;
        Access access;
    };
    void compute(std::string_view name, const Kernel& kernel, std::initializer_list<Operands> operands);

    // Runs with the result's gradient, if one arrived; what it holds by value is what autograd saves.
    using Backward = std::function<void(Tape&, Tensor gradient)>;
    // Called before an op runs: whether its result requires a gradient. `saves`: the op keeps tensors for
    // backward.
    bool begin(std::initializer_list<const Tensor*> inputs, bool saves);
    // Makes `result` the output of a node, unless the tape is not recording.
    void record(Tensor& result, Backward backward);

    // Where a tensor's gradient goes, without holding its storage.
    struct Target {
        GradientSlot slot = GradientSlot::none;
        WeightId weight = WeightId::none;
        explicit operator bool() const { return slot != GradientSlot::none; }
    };
    static Target target(const Tensor& tensor) { return {tensor.slot, tensor.weight}; }
    // Adds a gradient: in place unless the sum so far is shared or a view.
    void accumulate(Target into, Tensor gradient);
    Tensor take(GradientSlot slot);

    // A weight that no op of ours reads still gets a gradient: see EagerDecoder.
    bool took_gradient(WeightId weight) const { return leaves_[index_of(weight)].taken; }
    void begin_micro_batch();

    std::size_t position() const { return nodes_.size(); }
    void run_backward_to(std::size_t position);

    bool gradients = true;  // off in evaluation
    bool recording = true;  // off in a forward that will be recomputed: it only counts its saves, ...
    int save_count = 0;
    int stop_at_save = -1;  // ... and the second run stops at the last of them

    Storages storages;
    KeptOutputs kept;  // of the checkpointed layer that runs

  private:
    struct Node {
        GradientSlot output;
        Backward backward;
    };
    struct Leaf {
        int uses = 0;        // whose gradient has not arrived yet
        bool taken = false;  // in this micro-batch
        Tensor sum;
    };
    void add_to(Tensor& sum, Tensor gradient);

    WeightOwner* owner_ = nullptr;
    std::vector<Node> nodes_;
    std::vector<Tensor> slots_;
    std::vector<Leaf> leaves_;
};

}  // namespace wirewise
