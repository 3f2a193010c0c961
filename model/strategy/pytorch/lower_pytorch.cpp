#include "model/strategy/pytorch/lower_pytorch.hpp"

#include "model/strategy/pytorch/decoder.hpp"
#include "model/strategy/pytorch/policy.hpp"

namespace wirewise {

namespace {

std::unique_ptr<PytorchPolicy> make_policy(PytorchContext& context) {
    switch (context.plan().strategy) {
        case Strategy::single:
            return make_single(context);
        case Strategy::ddp:
        case Strategy::zero1:
            return make_ddp(context);
        case Strategy::fsdp:
        case Strategy::fsdp_shard_grad_op:
        case Strategy::hsdp:
            return context.plan().fsdp_version == 1 ? make_flat_fsdp(context) : make_fsdp(context);
        case Strategy::zero2:
            break;
    }
    throw InputError("--strategy", "PyTorch has no zero2", "write fsdp_shard_grad_op, its nearest relative");
}

BufferId whole_model_on_host(PytorchContext& context, std::string_view name) {
    const DType type = context.plan().precision.parameter;
    return context.build().on_host(Lifetime::transient, name, bytes_of(context.model().parameters(), type),
                                   type, Role::parameter, context.compute);
}

// from_pretrained reads the whole checkpoint into each rank's host memory.
void emit_load(PytorchContext& context, PytorchPolicy& policy) {
    const BufferId checkpoint = whole_model_on_host(context, "checkpoint");
    context.build().allocate(checkpoint);
    policy.load();
    context.build().release(checkpoint);
}

// Each rank copies what it stores to the host; the first assembles the full state dict there.
void emit_save(PytorchContext& context, const PytorchPolicy& policy) {
    context.build().allocate(whole_model_on_host(context, "state dict"));
    for (const BufferId buffer : policy.stored_parameters()) {
        if (context.build().at(buffer).space == MemorySpace::host) continue;  // there already
        const Operand read = context.build().read(buffer);
        const Copy copy{MemorySpace::device, MemorySpace::host, read.bytes};
        context.build().copy(context.compute, "save parameter", copy, {read});
    }
}

void emit_phase(PytorchContext& context, PytorchPolicy& policy, EagerDecoder& decoder) {
    if (context.phase() == Phase::load) return emit_load(context, policy);
    if (context.phase() == Phase::save) return emit_save(context, policy);
    emit_step(context.emission, decoder, policy);
    if (context.phase() == Phase::evaluation) policy.end_evaluation();
}

}  // namespace

StepProgram lower_pytorch(const Transformer& model, const ParallelPlan& plan, Phase phase) {
    if (plan.offload.any() && plan.optimizer != OptimizerKind::adamw_fused &&
        plan.optimizer != OptimizerKind::sgd)
        throw InputError("--offload", "torch has no such optimizer on the CPU",
                         "write --optimizer adamw_fused");
    Emission emission{model, plan, phase, ProgramBuilder(phase, FreeRule::at_last_use)};
    const Mesh& mesh = plan.mesh;
    emission.build.set_axis_size(Axis::replicate, mesh.replicate);
    emission.build.set_axis_size(Axis::shard, mesh.shard);
    emission.build.set_axis_size(Axis::world, mesh.world());
    {
        PytorchContext context(emission);
        const std::unique_ptr<PytorchPolicy> policy = make_policy(context);
        context.tape.set_owner(*policy);
        EagerDecoder decoder(context);
        emit_phase(context, *policy, decoder);
    }
    return std::move(emission.build).finish();
}

}  // namespace wirewise
