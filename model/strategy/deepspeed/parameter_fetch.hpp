// ZeRO-3's parameter coordinator: a module's parameters are gathered before it runs, forward or backward, and
// released after; each fetch also starts those of the modules to come, prefetch_bucket_size elements more
// while no more than max_live_parameters are gathered. A parameter that is used again within
// max_reuse_distance elements stays. The first step records the order and does neither. Parameters gathered
// together come in one buffer and are copied out of it. Source:
// deepspeed/runtime/zero/{partitioned_param_coordinator,partition_parameters}.py, read 2026-11.
//
// Up to version 0.4.3 (July 2021) each parameter was gathered by itself: zeros
// made, the device synchronised, the tensor sliced in Python once per rank, and torch's all_gather into a
// list of tensors, which copies the whole out of its own buffer once per rank. Nothing was prefetched: the
// trace was off by one, and each gather waited for the one before. Sources: partition_parameters.py of
// 0.3.13; DeepSpeed issue 1069, pull requests 1170 ("off-by-one") and 1188 ("not async at all"), read
// 2026-11.
#pragma once

#include "model/strategy/deepspeed/zero3_layout.hpp"

namespace wirewise {

class ParameterFetch {
  public:
    ParameterFetch(PytorchContext& context, const Zero3Layout& layout, std::optional<StreamId> host);

    BufferId own_parts() const { return own_parts_; }
    std::vector<BufferId> persistent() const;
    void begin_step();
    void begin_micro_batch();
    // The weight's buffer; its module is entered, the one before left.
    BufferId use(WeightId weight);
    // A layer's backward is over: none of its weights is needed again. (The order above has a recomputed
    // layer's last module twice; its recomputation stops before it.)
    void done(Unit unit);
    void end_micro_batch();
    // After the update: the persisting parameters are gathered again.
    void refresh_persistent();

  private:
    struct Handle {
        std::vector<WeightId> weights;
        BufferId output{};
        bool waiting = false;
    };
    struct State {
        std::optional<BufferId> whole;  // gathered
        std::optional<std::size_t> handle;
    };
    static constexpr std::size_t kNone = ~std::size_t{0};

    bool always_there(WeightId weight) const;
    bool trace_complete() const {
        return context_.phase() == Phase::second_step || context_.phase() == Phase::steady_step;
    }
    DType type() const { return context_.plan().precision.parameter; }
    bool offloaded() const { return context_.plan().offload.parameters; }
    bool overlaps() const { return context_.plan().deepspeed.overlap_comm.value_or(!one_by_one()); }
    void enter(std::size_t module);
    void leave();
    bool one_by_one() const { return context_.plan().deepspeed.one_by_one(); }
    void fetch(const std::vector<WeightId>& weights);
    void start(Handle handle);
    void prefetch();
    void gather(Handle& handle);
    void gather_together(Handle& handle);
    void gather_in_pieces(Handle& handle);
    Operand sent(const Handle& handle, WeightId weight);
    void wait(Handle& handle);
    bool used_again_soon(std::size_t module) const;
    void release(WeightId weight);

    PytorchContext& context_;
    const Zero3Layout& layout_;
    ModuleTrace trace_;
    StreamId gather_;
    std::optional<StreamId> host_;
    BufferId own_parts_;
    std::vector<std::optional<BufferId>> kept_whole_;  // persisting ones, by weight
    std::vector<State> states_;
    std::vector<Handle> handles_;
    std::size_t current_ = kNone, cursor_ = 0, queue_ = 0;
    std::int64_t live_ = 0;  // elements gathered or on their way
};

}  // namespace wirewise
