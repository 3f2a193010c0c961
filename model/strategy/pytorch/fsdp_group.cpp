#include "model/strategy/pytorch/fsdp_group.hpp"

#include "model/strategy/moments.hpp"
#include "model/strategy/pytorch/whole_weights.hpp"

namespace wirewise {

FsdpGroup::FsdpGroup(PytorchContext& context, Unit which) : unit(which) {
    const DType type = context.plan().precision.parameter;
    const std::int64_t ranks = context.plan().mesh.shard;
    context.build().at_layer(unit.layer);
    for (const WeightId id : context.weights.of(unit)) {
        const Weight& weight = context.weights.at(id);
        const std::int64_t slices = (weight.outer() + ranks - 1) / ranks;
        const std::int64_t count = slices * (weight.count() / weight.outer());
        const Bytes bytes = bytes_of(count, type);
        const BufferId shard =
            context.plan().offload.parameters
                ? context.build().on_host(Lifetime::persistent, name_of(weight), bytes, type, Role::parameter,
                                          context.compute)
                : context.build().persistent(name_of(weight), bytes, type, Role::parameter, context.compute);
        weights.push_back({id, shard, count});
        shard_count += count;
    }
    context.build().at_layer(-1);
    gradients.resize(weights.size());
    reduce_type_gradients.resize(weights.size());
}

bool built_whole(const ParallelPlan& plan) {
    const std::int64_t parameter = size_of(plan.precision.parameter);
    const std::int64_t moments = moment_count(plan.optimizer) * size_of(plan.precision.optimizer_state);
    return !plan.offload.any() && parameter * plan.mesh.shard <= parameter + moments;
}

}  // namespace wirewise
