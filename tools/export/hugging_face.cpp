// accelerate and DeepSpeed. Keys as their documentation names them (accelerate 1.x config file, DeepSpeed
// JSON config).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/export/export.hpp"

namespace wirewise {

namespace {

bool sharded_data_parallel(Strategy strategy) {
    return strategy == Strategy::fsdp || strategy == Strategy::fsdp_shard_grad_op;
}

std::string mixed_precision(const Precision& precision) {
    if (precision.compute == DType::fp32 || precision.parameter == precision.compute) return "no";
    return precision.compute == DType::bf16 ? "bf16" : "fp16";
}

// Version 1 names its sharding strategies and prefetches by request.
std::string sharding_lines(const ParallelPlan& plan) {
    const bool reshards = sharding_of(plan.strategy).reshard_after_forward;
    if (plan.fsdp_version == 2) return fmt::format("  fsdp_reshard_after_forward: {}\n", reshards);
    return fmt::format("  fsdp_sharding_strategy: {}\n  fsdp_backward_prefetch: BACKWARD_PRE\n",
                       reshards ? "FULL_SHARD" : "SHARD_GRAD_OP");
}

std::string fsdp_lines(const ParallelPlan& plan) {
    return fmt::format(
        "fsdp_config:\n  fsdp_version: {}\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n{}"
        "  fsdp_activation_checkpointing: {}\n  fsdp_state_dict_type: SHARDED_STATE_DICT\n",
        plan.fsdp_version, sharding_lines(plan), plan.recompute == Recompute::full);
}

int zero_stage(const LaunchPlan& plan) {
    switch (plan.plan.strategy) {
        case Strategy::ddp:
            return 0;
        case Strategy::zero1:
            return 1;
        case Strategy::zero2:
            return 2;
        case Strategy::fsdp:
            return 3;
        default:
            cannot_say("deepspeed", plan, "choose ddp, zero1, zero2 or zero3");
    }
}

}  // namespace

Launch accelerate_launch(const LaunchPlan& plan) {
    const ParallelPlan& p = plan.plan;
    const bool fsdp = sharded_data_parallel(p.strategy);
    if (!fsdp && p.strategy != Strategy::ddp && p.strategy != Strategy::single)
        cannot_say("accelerate", plan, "choose ddp, fsdp or fsdp_shard_grad_op");
    std::string yaml = fmt::format(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: {}\nmixed_precision: '{}'\nnum_machines: {}\n"
        "num_processes: {}\nmachine_rank: 0\nmain_training_function: main\n",
        fsdp                             ? "FSDP"
        : p.strategy == Strategy::single ? "'NO'"
                                         : "MULTI_GPU",
        mixed_precision(p.precision), plan.nodes, p.mesh.world());
    if (fsdp) yaml += fsdp_lines(p);
    Launch launch;
    launch.command = fmt::format(
        "accelerate launch --config_file accelerate.yaml train.py --per_device_train_batch_size {} "
        "--gradient_accumulation_steps {}",
        p.micro_batch, p.gradient_accumulation);
    launch.files.push_back({"accelerate.yaml", yaml});
    note_unsaid(p, {.full = fsdp}, launch);
    return launch;
}

Launch deepspeed_launch(const LaunchPlan& plan) {
    const ParallelPlan& p = plan.plan;
    nlohmann::ordered_json config{
        {"train_micro_batch_size_per_gpu", p.micro_batch},
        {"gradient_accumulation_steps", p.gradient_accumulation},
        {"bf16", {{"enabled", p.precision.compute == DType::bf16}}},
        {"zero_optimization",
         {{"stage", zero_stage(plan)}, {"overlap_comm", true}, {"contiguous_gradients", true}}},
        {"optimizer", {{"type", "AdamW"}, {"params", {{"lr", "auto"}}}}}};
    Launch launch;
    launch.command = fmt::format("deepspeed --num_nodes {} --num_gpus {} train.py --deepspeed ds_config.json",
                                 plan.nodes, plan.gpus.size());
    launch.files.push_back({"ds_config.json", config.dump(2) + "\n"});
    launch.notes.emplace_back(
        "\"lr\": \"auto\" is filled in by the Hugging Face Trainer; write a number otherwise");
    note_unsaid(p, {}, launch);
    return launch;
}

}  // namespace wirewise
