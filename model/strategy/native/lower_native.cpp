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

// Each rank copies what it stores to the host, unit by unit, on its way to the file.
void emit_save(NativeContext& context, const NativeParameters& parameters) {
    for (const Unit unit : context.units()) {
        context.build().at_layer(unit.layer);
        const Operand read = context.build().read(parameters.stored(unit));
        context.build().copy(context.streams.compute, "save parameters",
                             {MemorySpace::device, MemorySpace::host, read.bytes}, {read});
    }
}

}  // namespace

StepProgram lower_native(const Transformer& model, const ParallelPlan& plan, Phase phase) {
    Emission emission{model, plan, phase, ProgramBuilder(phase, FreeRule::after_join)};
    NativeContext context(emission);
    NativeParameters parameters(context);
    NativeLayers layers(context, parameters);
    if (phase == Phase::load)
        emit_load(emission.build);
    else if (phase == Phase::save)
        emit_save(context, parameters);
    else
        emit_step(emission, layers, parameters);
    return std::move(emission.build).finish();
}

}  // namespace wirewise
