// torch.optim.AdamW and SGD over a list of parameters: states are created in the first step, inside freed
// activation blocks; fused AdamW needs no temporaries, foreach AdamW one more copy of a state. Offloaded, it runs on the CPU,
// on parameters, gradients and states in host memory.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class PytorchOptimizer {
  public:
    struct Item {
        BufferId parameter{};
        std::int64_t count = 0;
    };
    PytorchOptimizer(PytorchContext& context, std::vector<Item> items);

    // `gradients`: where each item's gradient lies.
    void step(const std::vector<Operand>& gradients);
    std::size_t size() const { return items_.size(); }

  private:
    struct State {
        BufferId step{}, first{}, second{};
    };
    bool on_host() const { return context_.plan().offload.optimizer; }
    void wait_for_gradients();
    void create_states();
    void clip(const std::vector<Operand>& gradients);
    void fused(const std::vector<Operand>& gradients);
    void multi_tensor(const std::vector<Operand>& gradients);
    void multi_tensor_passes(const std::vector<Operand>& gradients, const std::vector<BufferId>& roots);
    void multi_tensor_update(const std::vector<Operand>& gradients, const std::vector<BufferId>& roots);
    bool adaptive() const;  // keeps moments

    PytorchContext& context_;
    StreamId stream_;  // where its kernels run: the GPU's, or the CPU's
    std::vector<Item> items_;
    std::vector<std::int64_t> counts_;
    std::vector<State> states_;
    DType parameter_type_, state_type_;
};

}  // namespace wirewise
