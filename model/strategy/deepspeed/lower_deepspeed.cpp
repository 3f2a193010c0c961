#include "model/strategy/deepspeed/lower_deepspeed.hpp"

#include "model/strategy/deepspeed/policies.hpp"
#include "model/strategy/pytorch/decoder.hpp"

namespace wirewise {

namespace {

std::unique_ptr<DeepSpeedPolicy> make_policy(PytorchContext& context) {
    switch (context.plan().strategy) {
        case Strategy::single:
        case Strategy::ddp:
        case Strategy::zero1:
        case Strategy::zero2:
            return make_zero_flat(context);
        case Strategy::fsdp:
            return make_zero3(context);
        case Strategy::fsdp_shard_grad_op:
        case Strategy::hsdp:
            break;
    }
    throw InputError("--strategy", "DeepSpeed has no such strategy", "write ddp, zero1, zero2 or zero3");
}

void refuse_what_it_lacks(const ParallelPlan& plan) {
    if (plan.recompute == Recompute::pointwise || plan.recompute == Recompute::selective)
        throw InputError("--recompute", "DeepSpeed checkpoints whole layers", "write none or full");
    if (plan.offload.any() && plan.optimizer == OptimizerKind::adamw_8bit)
        throw InputError("--offload", "the CPU's optimizer keeps no 8-bit states",
                         "write --optimizer adamw_fused");
}

void emit_phase(PytorchContext& context, DeepSpeedPolicy& policy, EagerDecoder& decoder) {
    if (context.phase() == Phase::load) return policy.load();
    if (context.phase() == Phase::save) return policy.save();
    emit_step(context.emission, decoder, policy);
    if (context.phase() == Phase::evaluation) policy.end_evaluation();
}

}  // namespace

StepProgram lower_deepspeed(const Transformer& model, const ParallelPlan& plan, Phase phase) {
    refuse_what_it_lacks(plan);
    Emission emission{model, plan, phase, ProgramBuilder(phase, FreeRule::at_last_use)};
    emission.build.set_axis_size(Axis::replicate, plan.mesh.replicate);
    emission.build.set_axis_size(Axis::shard, plan.mesh.shard);
    emission.build.set_axis_size(Axis::world, plan.mesh.world());
    {
        PytorchContext context(emission);
        const std::unique_ptr<DeepSpeedPolicy> policy = make_policy(context);
        context.tape.set_owner(*policy);
        EagerDecoder decoder(context);
        emit_phase(context, *policy, decoder);
    }
    return std::move(emission.build).finish();
}

}  // namespace wirewise
