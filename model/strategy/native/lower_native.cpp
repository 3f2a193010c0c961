#include "model/strategy/native/lower_native.hpp"

#include "model/strategy/native/layers.hpp"

namespace wirewise {

namespace {

// Every persistent buffer is allocated when the plan is bound, before the first step.
void emit_load(ProgramBuilder& build) {
    std::vector<BufferId> all;
    for (std::uint32_t id = 0; id < build.buffer_count(); ++id) all.push_back(BufferId{id});
    build.allocate(all);
}

}  // namespace

StepProgram lower_native(const Transformer& model, const ParallelPlan& plan, Phase phase) {
    Emission emission{model, plan, phase, ProgramBuilder(phase, FreeRule::after_join)};
    NativeContext context(emission);
    NativeParameters parameters(context);
    NativeLayers layers(context, parameters);
    if (phase == Phase::load)
        emit_load(emission.build);
    else
        emit_step(emission, layers, parameters);
    return std::move(emission.build).finish();
}

}  // namespace wirewise
