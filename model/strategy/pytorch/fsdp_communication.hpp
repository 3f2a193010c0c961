// FSDP2's collectives with their streams and the memory that lives across them.
// Source: torch/distributed/fsdp/_fully_shard/{_fsdp_collectives,_fsdp_param_group}.py (2.11).
#pragma once

#include "model/strategy/pytorch/fsdp_group.hpp"

namespace wirewise {

class FsdpCommunication {
  public:
    explicit FsdpCommunication(PytorchContext& context);

    // The step's first gathers wait for the optimizer.
    void begin_step();
    // unshard(): allocates the output in the copy-in stream's pool, copies the shard in and gathers.
    void gather(FsdpGroup& group);
    // wait_for_unshard(): copies out into one tensor per parameter. In forward the gathered output stays
    // until the next group's turn, in backward it goes at once.
    void finish_gather(FsdpGroup& group, bool forward);
    void drop_last_gather_output();
    // reshard(): the parameters' storages are resized to nothing.
    void reshard(FsdpGroup& group);
    // post_backward's reduction: frees the group's gradients, leaves its sharded gradient.
    void reduce(FsdpGroup& group, std::vector<Tensor> gradients);
    // finalize_backward of one group, and of the last reduce-scatter.
    void finish_reduce(FsdpGroup& group);
    void finish_backward();
    // zero_grad. The streams whose pools take the sharded gradients back follow the optimizer before they
    // reuse them.
    void end_step(std::vector<FsdpGroup>& groups);

  private:
    struct Held {
        BufferId buffer{};
        EventId event{};
    };
    void copy_weights(FsdpGroup& group);
    void copy_in(FsdpGroup& group);
    void foreach_copy(const FsdpGroup& group, std::string_view name, std::optional<BufferId> from,
                      BufferId into);
    BufferId cast_shards(const FsdpGroup& group);
    BufferId shards_to_gpu(const FsdpGroup& group);
    void gradient_to_host(FsdpGroup& group, BufferId output, StreamId stream);
    BufferId chunk_cat(const FsdpGroup& group, const std::vector<Tensor>& gradients);
    void all_reduce(FsdpGroup& group, BufferId output);
    void keep_sharded_gradient(FsdpGroup& group, BufferId output, StreamId stream);
    // NCCL runs the calls of one communicator in the order they were issued, also across streams.
    void in_communicator_order(StreamId stream);
    void gather_streams_wait(EventId event);

    DType compute_type() const { return context_.plan().precision.compute; }
    DType reduce_type() const { return context_.plan().precision.reduce; }
    DType stored_type() const { return context_.plan().precision.parameter; }
    bool replicates() const { return context_.plan().mesh.replicate > 1; }
    int ranks() const { return context_.plan().mesh.shard; }

    PytorchContext& context_;
    StreamId copy_in_, gather_, reduce_, all_reduce_{};
    std::optional<StreamId> host_;         // where the CPU adds gradients, once it has any to add
    std::optional<Held> forward_output_;   // of the last gather in forward
    std::optional<Held> reduce_input_;     // of the last reduce-scatter
    std::optional<StreamId> last_stream_;  // of the last collective over the shard axis
};

}  // namespace wirewise
