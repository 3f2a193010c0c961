// What FullyShardedDataParallel (FSDP1) gathers and reduces as one FlatParameter: the weights of a wrapped
// layer, or those that no layer has (embedding, last norm, head), one after another, padded to the ranks.
#pragma once

#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

struct FlatUnit {
    FlatUnit(PytorchContext& context, Unit which);

    Unit unit;
    std::vector<WeightId> weights;
    std::int64_t count = 0;        // elements of all weights
    std::int64_t shard_count = 0;  // of a rank's part
    BufferId shard{};

    // What of each weight lies in the first rank's shard; the last part with the padding.
    struct Part {
        WeightId weight = WeightId::none;
        std::int64_t offset = 0, count = 0;  // in the shard
    };
    std::vector<Part> parts(const WeightTable& table) const;

    // State of the walk.
    std::optional<BufferId> whole;          // the flat parameter, while it is gathered
    bool arriving = false;                  // the compute stream has not yet waited for it
    std::vector<Tensor> gradients;          // per weight, until all are there
    std::optional<BufferId> flat_gradient;  // of this and of earlier unreduced micro-batches
    std::optional<BufferId> sharded_gradient;
};

}  // namespace wirewise
