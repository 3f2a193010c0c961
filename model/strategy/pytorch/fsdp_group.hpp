// A group of parameters that fully_shard gathers and reduces together: a layer, or the root (embedding, last
// norm, head).
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

// One parameter: dim 0 cut into equal chunks, the last ones padded; this rank holds the first, which is never
// shorter.
struct ShardedWeight {
    WeightId id = WeightId::none;
    BufferId shard{};
    std::int64_t shard_count = 0;  // padded elements of a shard; the gathered tensor has this many per rank
};

struct FsdpGroup {
    FsdpGroup(PytorchContext& context, Unit which);

    Unit unit;
    std::vector<ShardedWeight> weights;
    std::int64_t shard_count = 0;  // sum over weights

    // State of the walk.
    bool gathering = false, gathered = false;
    BufferId gather_output{};
    EventId gather_done{};
    std::optional<EventId> resharded;           // after the last use of the gathered parameters
    std::vector<BufferId> unsharded;            // per weight, while gathered
    std::vector<Tensor> gradients;              // per weight, of this and of earlier unreduced micro-batches
    std::vector<Tensor> reduce_type_gradients;  // the earlier ones where the reduce type differs
    std::optional<BufferId> sharded_gradient;   // all shards' gradients, one buffer
    std::optional<EventId> reduced;
    std::optional<BufferId> all_reduce_input;  // HSDP with a cast: kept to the end of backward
};

// A model that needs less whole than its step's states do is built on the GPU; a larger one reaches it from
// the meta device, as shards (fully_shard) or layer by layer (FSDP1).
bool built_whole(const ParallelPlan& plan);

}  // namespace wirewise
