// The optimizer over flat fp32 groups: master parameters and moments of what this rank updates. On the GPU
// FusedAdam; with the optimizer offloaded DeepSpeedCPUAdam, with the fp32 gradients beside it in host memory.
// Source: deepspeed/runtime/zero/{stage_1_and_2,stage3}.py, read 2026-11. States appear in the first step.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class FlatAdam {
  public:
    // `counts`: elements of each group. `host`: where the CPU's kernels queue, if anything is offloaded.
    FlatAdam(PytorchContext& context, std::optional<StreamId> host, std::vector<std::int64_t> counts);

    std::size_t size() const { return groups_.size(); }
    std::int64_t count(std::size_t group) const { return groups_[group].count; }
    BufferId master(std::size_t group) const { return groups_[group].master; }
    // fp32; in host memory. Only when offloaded.
    BufferId host_gradient(std::size_t group) const { return groups_[group].gradient; }
    bool offloaded() const { return context_.plan().offload.optimizer; }
    // What exists from the first moment on.
    std::vector<BufferId> at_load() const;
    std::vector<BufferId> moments(std::size_t group) const;

    // One group, with its fp32 gradient; on the GPU's compute stream or on the host's.
    void update(std::size_t group, BufferId gradient);

  private:
    struct Group {
        std::int64_t count = 0;
        BufferId master{}, first{}, second{}, gradient{};
    };
    BufferId declare(std::string_view name, Bytes bytes, DType type, Role role);
    void create_states(const Group& group);
    StreamId stream() const { return offloaded() ? *host_ : context_.compute; }

    PytorchContext& context_;
    std::optional<StreamId> host_;
    std::vector<Group> groups_;
    DType state_type_;
};

}  // namespace wirewise
