// torchtitan (TOML) and Megatron-LM (arguments). Names as their own option lists give them.
#include <fmt/format.h>

#include "model/units/error.hpp"
#include "tools/export/export.hpp"

namespace wirewise {

namespace {

const char* checkpoint_mode(Recompute recompute) {
    switch (recompute) {
        case Recompute::none:
            return "none";
        case Recompute::full:
            return "full";
        case Recompute::pointwise:
        case Recompute::selective:
            return "selective";
    }
    return "none";
}

// torchtitan compiles both unless told which.
std::string compiled_parts(const ParallelPlan& plan) {
    if (plan.compile && plan.loss.compiled) return "\"model\", \"loss\"";
    return plan.loss.compiled ? "\"loss\"" : "\"model\"";
}

std::string sharding_arguments(const LaunchPlan& plan) {
    switch (plan.plan.strategy) {
        case Strategy::single:
        case Strategy::ddp:
            return "";
        case Strategy::zero1:
            return " --use-distributed-optimizer";
        case Strategy::zero2:
            return " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads "
                   "--use-distributed-optimizer";
        case Strategy::fsdp:
            return " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
                   "--use-distributed-optimizer";
        default:
            cannot_say("megatron", plan, "choose ddp, zero1, zero2 or fsdp");
    }
}

}  // namespace

Launch torchtitan_launch(const LaunchPlan& plan) {
    const ParallelPlan& p = plan.plan;
    const bool known = p.strategy == Strategy::ddp || p.strategy == Strategy::fsdp ||
                       p.strategy == Strategy::fsdp_shard_grad_op || p.strategy == Strategy::hsdp;
    if (!known) cannot_say("torchtitan", plan, "choose ddp, fsdp, fsdp_shard_grad_op or hsdp");
    if (p.fsdp_version == 1 && p.strategy != Strategy::ddp)
        throw InputError("--for torchtitan", "shards with fully_shard only", "plan with --fsdp-version 2");
    const std::string toml = fmt::format(
        "[training]\nlocal_batch_size = {}\nglobal_batch_size = {}\nseq_len = {}\nmixed_precision_param = "
        "\"{}\"\n\n"
        "[parallelism]\ndata_parallel_replicate_degree = {}\ndata_parallel_shard_degree = "
        "{}\nfsdp_reshard_after_forward = \"{}\"\n\n"
        "[activation_checkpoint]\nmode = \"{}\"\nselective_ac_option = \"{}\"\n\n[compile]\nenable = "
        "{}\ncomponents = [{}]\n",
        p.micro_batch, p.micro_batch * p.gradient_accumulation * p.mesh.world(), p.sequence_length,
        p.precision.compute == DType::fp32 ? "float32" : "bfloat16", p.mesh.replicate, p.mesh.shard,
        sharding_of(p.strategy).reshard_after_forward ? "always" : "never", checkpoint_mode(p.recompute),
        p.recompute_every > 0 ? fmt::format("{}", p.recompute_every) : "op", p.compile || p.loss.compiled,
        compiled_parts(p));
    Launch launch;
    launch.command = fmt::format(
        "torchrun --nnodes {} --nproc-per-node {} -m torchtitan.train --job.config_file wirewise.toml",
        plan.nodes, plan.gpus.size());
    launch.files.push_back({"wirewise.toml", toml});
    launch.notes.emplace_back("add the [model] section of your model");
    note_unsaid(p, {.full = true, .selective = true, .every = true, .compile = true, .compile_loss = true},
                launch);
    return launch;
}

Launch megatron_launch(const LaunchPlan& plan) {
    const ParallelPlan& p = plan.plan;
    Launch launch;
    launch.command = fmt::format(
        "torchrun --nnodes {} --nproc-per-node {} pretrain_gpt.py --tensor-model-parallel-size 1 "
        "--pipeline-model-parallel-size 1 "
        "--micro-batch-size {} --global-batch-size {} --seq-length {}{}{}{}",
        plan.nodes, plan.gpus.size(), p.micro_batch, p.micro_batch * p.gradient_accumulation * p.mesh.world(),
        p.sequence_length, p.precision.compute == DType::bf16 ? " --bf16" : "", sharding_arguments(plan),
        p.recompute == Recompute::full
            ? " --recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
        : p.recompute == Recompute::selective ? " --recompute-granularity selective"
                                              : "");
    launch.notes.emplace_back("add the arguments of your model and data");
    if (p.recompute == Recompute::selective)
        launch.notes.emplace_back("Megatron's selective recomputation repeats the core of attention only");
    note_unsaid(p, {.full = true, .selective = true}, launch);
    return launch;
}

}  // namespace wirewise
