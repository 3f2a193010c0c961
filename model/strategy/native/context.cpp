#include "model/strategy/native/context.hpp"

namespace wirewise {

NativeContext::NativeContext(Emission& shared)
    : emission(shared),
      layout(shared.model, shared.plan.mesh.shard),
      sharding(sharding_of(shared.plan.strategy)) {
    streams.compute = build().stream("compute", StreamKind::compute);
    streams.gather = build().stream("gather", StreamKind::communication);
    streams.reduce = build().stream("reduce", StreamKind::communication);
    streams.replicate = build().stream("replicate", StreamKind::communication);
    build().set_axis_size(Axis::replicate, plan().mesh.replicate);
    build().set_axis_size(Axis::shard, plan().mesh.shard);
    build().set_axis_size(Axis::world, plan().mesh.world());
}

std::vector<Unit> NativeContext::units() const {
    std::vector<Unit> all{Unit{}};
    for (std::int32_t layer = 0; layer < model().layer_count(); ++layer) all.push_back({layer});
    return all;
}

}  // namespace wirewise
