#include "model/memory/states.hpp"

namespace wirewise {

namespace {

constexpr std::int64_t share(std::int64_t count, int ranks) { return (count + ranks - 1) / ranks; }

}  // namespace

Bytes optimizer_state_bytes(std::int64_t count, OptimizerKind kind, DType state) {
    constexpr std::int64_t kBlock =
        256;  // values that share one fp32 scale (bitsandbytes' block-wise quantisation)
    switch (kind) {
        case OptimizerKind::adamw_fused:
        case OptimizerKind::adamw_foreach:
            return bytes_of(count, state) * 2;
        case OptimizerKind::adamw_8bit:
            return (bytes_of(count, DType::int8) + bytes_of(share(count, kBlock), DType::fp32)) * 2;
        case OptimizerKind::sgd:
            return Bytes(0);  // without momentum
    }
    return Bytes(0);
}

States states_of(std::int64_t parameters, const ParallelPlan& plan) {
    const Sharding sharding = sharding_of(plan.strategy);
    const auto held = [&](bool sharded) { return sharded ? share(parameters, plan.mesh.shard) : parameters; };
    const Precision& precision = plan.precision;
    return {bytes_of(held(sharding.parameters), precision.parameter),
            bytes_of(held(sharding.gradients), precision.gradient),
            optimizer_state_bytes(held(sharding.optimizer), plan.optimizer, precision.optimizer_state),
            precision.master_weights ? bytes_of(held(sharding.optimizer), DType::fp32) : Bytes(0)};
}

}  // namespace wirewise
