#include "model/strategy/pytorch/flat_unit.hpp"

#include <algorithm>

namespace wirewise {

FlatUnit::FlatUnit(PytorchContext& context, Unit which) : unit(which), weights(context.weights.of(which)) {
    for (const WeightId id : weights) count += context.weights.at(id).count();
    const std::int64_t ranks = context.plan().mesh.shard;
    shard_count = (count + ranks - 1) / ranks;
    const DType type = context.plan().precision.parameter;
    context.build().at_layer(unit.layer);
    shard = context.build().persistent("flat parameter", bytes_of(shard_count, type), type, Role::parameter,
                                       context.compute);
    context.build().at_layer(-1);
    gradients.resize(weights.size());
}

std::vector<FlatUnit::Part> FlatUnit::parts(const WeightTable& table) const {
    std::vector<Part> parts;
    std::int64_t offset = 0;
    for (const WeightId id : weights) {
        if (offset >= shard_count) break;
        const std::int64_t part = std::min(table.at(id).count(), shard_count - offset);
        parts.push_back({id, offset, part});
        offset += part;
    }
    parts.back().count += shard_count - offset;
    return parts;
}

}  // namespace wirewise
