// What all parts of a PyTorch step share.
#pragma once

#include "model/strategy/emission.hpp"
#include "model/strategy/pytorch/tape.hpp"
#include "model/strategy/pytorch/weights.hpp"

namespace wirewise {

struct PytorchContext {
    Emission& emission;
    WeightTable weights;
    StreamId compute;
    Tape tape;

    explicit PytorchContext(Emission& shared)
        : emission(shared),
          weights(shared.model),
          compute(shared.build.stream("compute", StreamKind::compute)),
          tape(shared.build, compute, weights.size()) {}

    ProgramBuilder& build() const { return emission.build; }
    const ParallelPlan& plan() const { return emission.plan; }
    const Transformer& model() const { return emission.model; }
    Phase phase() const { return emission.phase; }
    // Whether gradients are reduced after this micro-batch.
    bool synchronises() const { return !plan().no_sync || emission.last_micro_batch(); }
    // Passes of Python over the parameters of a group, on the host.
    void hook(std::string_view name, std::int32_t passes = 1) const {
        build().host_work(compute, name, {HostWorkKind::hook, passes});
    }
    // FSDP casts its gathered weights to the compute type; elsewhere fp32 weights run under autocast.
    bool gathers_weights() const {
        return sharding_of(plan().strategy).parameters || sharding_of(plan().strategy).gradients;
    }
    bool autocast() const {
        return !gathers_weights() && plan().precision.parameter != plan().precision.compute;
    }
    DType weight_type() const {
        return gathers_weights() ? plan().precision.compute : plan().precision.parameter;
    }
};

}  // namespace wirewise
