// torch.optim.AdamW and SGD over a list of parameters: states are created in the first step, inside freed
// activation blocks; fused AdamW needs no temporaries, foreach AdamW one more copy of a state. Offloaded, it
// runs on the CPU, on parameters, gradients and states in host memory. With master weights it is wrapped, as
// Apex and InternEvo do it: fp32 copies of the parameters are updated with fp32 copies of all gradients, then
// copied back.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class PytorchOptimizer {
  public:
    struct Item {
        BufferId parameter{};
        std::int64_t count = 0;
        std::int64_t offset = 0;  // its first element in the buffer
    };
    PytorchOptimizer(PytorchContext& context, std::vector<Item> items);

    // `gradients`: where each item's gradient lies.
    void step(const std::vector<Operand>& gradients);
    std::size_t size() const { return items_.size(); }

  private:
    struct State {
        BufferId step{}, first{}, second{};
    };
    void keep_masters();
    std::vector<Operand> in_fp32(const std::vector<Operand>& gradients);
    void to_stored();
    Operand stored_part(std::size_t i, Access access) const;  // with masters: a parameter
    BufferId declare(std::string_view name, Bytes bytes, DType type, Role role) const;
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
    StreamId stream_;           // where its kernels run: the GPU's, or the CPU's
    std::vector<Item> items_;   // what it updates: the parameters, or their fp32 masters
    std::vector<Item> stored_;  // with masters: the parameters
    std::vector<std::int64_t> counts_;
    std::vector<State> states_;
    DType parameter_type_, state_type_;
};

}  // namespace wirewise
