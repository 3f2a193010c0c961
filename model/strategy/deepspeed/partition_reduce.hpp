// ZeRO-3's reduction: gradients are copied into one bucket of reduce_bucket_size elements; a full one is
// concatenated once more, part by part, and reduce-scattered; each rank copies its parts into a flat buffer
// of its gradients, or adds them there. With the optimizer offloaded that buffer lies on the host, and at the
// accumulation boundary the parts also go there in fp32. Source: deepspeed/runtime/zero/stage3.py,
// runtime/comm/coalesced_collectives.py, read 2026-11.
// Up to version 0.4.3 each gradient was reduce-scattered by itself, from a list
// of slices, one per rank, that torch copied together (partition_parameters.py of 0.3.13,
// _reduce_scatter_gradient).
#pragma once

#include "model/strategy/deepspeed/flat_adam.hpp"
#include "model/strategy/deepspeed/zero3_layout.hpp"

namespace wirewise {

class PartitionReduce {
  public:
    PartitionReduce(PytorchContext& context, const Zero3Layout& layout, std::optional<StreamId> host,
                    const FlatAdam& adam);

    BufferId gradients() const { return own_parts_; }
    std::vector<BufferId> from_the_start() const;  // what the optimizer's constructor makes
    void add(WeightId weight, Tensor gradient);
    void end_backward();

  private:
    void make_bucket();
    Bytes bucket_bytes() const;
    bool keeps_bucket() const { return context_.plan().deepspeed.keeps_bucket(); }
    bool one_by_one() const { return context_.plan().deepspeed.one_by_one(); }
    bool overlaps() const { return context_.plan().deepspeed.overlap_comm.value_or(!one_by_one()); }
    DType type() const { return context_.plan().precision.parameter; }
    void reduce();
    void reduce_scatter(BufferId input);
    void keep(const std::vector<WeightId>& weights, BufferId reduced);
    void keep_on_gpu(WeightId weight, const Operand& gradient);
    void keep_on_host(WeightId weight, const Operand& gradient);
    Operand host_gradient(WeightId weight) const;

    PytorchContext& context_;
    const Zero3Layout& layout_;
    const FlatAdam& adam_;
    StreamId reduce_;
    BufferId own_parts_;
    std::optional<BufferId> bucket_;
    std::vector<WeightId> members_;
    std::vector<Tensor> large_;  // members that the bucket cannot hold
    std::int64_t filled_ = 0;
};

}  // namespace wirewise
