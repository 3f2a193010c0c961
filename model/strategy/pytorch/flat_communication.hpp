// FSDP1's collectives with their streams and the memory that lives across them. The allocator follows what
// one stream makes and another uses (record_stream), so the host need not be told when it may go; the rate
// limiter keeps the host from issuing gathers too far ahead. Source:
// torch/distributed/fsdp/{_runtime_utils,_flat_param, _limiter_utils}.py (2.11).
#pragma once

#include <deque>

#include "model/strategy/pytorch/flat_unit.hpp"

namespace wirewise {

class FlatCommunication {
  public:
    explicit FlatCommunication(PytorchContext& context);

    // Lazy initialisation: each storage that will be resized later is made once, and emptied.
    void make_storages(const std::vector<FlatUnit>& units);
    // The root's pre-forward: gathers follow what the compute stream did to the shards.
    void begin_forward();
    void gather(FlatUnit& unit);
    void finish_gather(FlatUnit& unit);
    void reshard_in_forward(FlatUnit& unit);
    // Joins the gradients of the unit's weights. They are views that the gather stream made, so autograd
    // joins them there, and what follows in backward is ordered by that stream.
    void join_gradients(FlatUnit& unit);
    void reshard_in_backward(FlatUnit& unit);
    // Reduces the unit's flat gradient into its shard.
    void reduce(FlatUnit& unit);
    void finish_backward();
    // zero_grad.
    void end_step(std::vector<FlatUnit>& units);

  private:
    Operand cast_shard(const FlatUnit& unit, std::optional<BufferId>& cast);
    void wait_for_limiter();
    void let_go(FlatUnit& unit, StreamId stream);
    BufferId reduce_input(const FlatUnit& unit);
    void divide(BufferId buffer, std::int64_t factor);
    void all_reduce(BufferId shard);
    BufferId in_stored_type(const FlatUnit& unit, BufferId shard);
    void keep(FlatUnit& unit, BufferId shard);
    void in_communicator_order(StreamId stream);

    DType compute_type() const { return context_.plan().precision.compute; }
    DType reduce_type() const { return context_.plan().precision.reduce; }
    DType stored_type() const { return context_.plan().precision.parameter; }
    bool replicates() const { return context_.plan().mesh.replicate > 1; }
    std::int64_t ranks() const { return context_.plan().mesh.shard; }

    PytorchContext& context_;
    StreamId pre_unshard_, unshard_, post_backward_, all_reduce_{}, limiter_;
    std::deque<std::optional<EventId>> free_events_;  // of flat parameters let go; none: of an earlier step
    std::optional<StreamId> last_stream_;             // of the last collective over the shard axis
};

}  // namespace wirewise
