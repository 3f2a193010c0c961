// ZeRO-2's reduction during backward: each gradient is copied into a bucket of reduce_bucket_size elements
// (two of them, used in turn, when communication overlaps); a full bucket is averaged by an all-reduce, of
// which each rank keeps what it owns. A bucket that reaches into several partitions is flattened into one
// more buffer first. A gradient larger than a bucket is reduced where it lies. Source:
// deepspeed/runtime/zero/stage_1_and_2.py, read 2026-11.
#pragma once

#include <functional>

#include "model/strategy/deepspeed/flat_layout.hpp"
#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class GradientBucket {
  public:
    // Takes an averaged gradient of which this rank owns a part, on the stream that reduced it.
    using Keep = std::function<void(WeightId weight, const Operand& gradient, StreamId stream)>;
    GradientBucket(PytorchContext& context, StreamId reduce, const FlatLayout& layout, Keep keep);

    void add(WeightId weight, Tensor gradient);
    // The rest; then the buffers go back.
    void finish();

  private:
    bool overlaps() const { return context_.plan().deepspeed.overlap_comm.value_or(false); }
    std::int64_t size() const { return context_.plan().deepspeed.reduce_bucket_size; }
    DType type() const { return context_.plan().precision.parameter; }
    void allocate();
    void reduce();
    void let_go_of_large();
    Operand contents() const;
    void average(const Operand& gradients);
    void all_reduce(const Operand& gradients, StreamId stream);

    PytorchContext& context_;
    StreamId reduce_;
    const FlatLayout& layout_;
    Keep keep_;
    std::vector<BufferId> buffers_;
    std::size_t current_ = 0;
    std::int64_t filled_ = 0;
    std::vector<WeightId> members_;
    Tensor large_;                   // the bucket's only member, left where it was
    std::vector<Tensor> in_flight_;  // large ones whose reduction may still run
};

}  // namespace wirewise
