#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "tools/options/options.hpp"

namespace wirewise {

namespace {

constexpr const char* kStrategy = "Strategy";

void add_batch(CLI::App& command, TrainingOptions& to) {
    const char* group = "Batch (per GPU)";
    command
        .add_option("--sequence-length", to.sequence_length,
                    "tokens of a sequence [4096 or the model's limit]")
        ->group(group);
    command.add_option("--micro-batch", to.micro_batch, "sequences at once [1]")->group(group);
    auto* accumulation =
        command
            .add_option("--gradient-accumulation", to.gradient_accumulation, "micro-batches of a step [1]")
            ->group(group);
    command
        .add_option("--global-batch", to.global_batch,
                    "sequences of a step on all GPUs; sets the accumulation")
        ->group(group)
        ->excludes(accumulation);
    command
        .add_option("--no-sync", to.no_sync, "on, off: reduce gradients only in the last micro-batch [on]")
        ->group(group);
}

void add_precision(CLI::App& command, TrainingOptions& to) {
    const char* group = "Precision and optimizer";
    command.add_option("--parameter-dtype", to.parameter_dtype, "bf16, fp32, fp16 [bf16]")->group(group);
    command.add_option("--gradient-dtype", to.gradient_dtype, "[as the parameters]")->group(group);
    command.add_option("--reduce-dtype", to.reduce_dtype, "[as the parameters]")->group(group);
    command.add_option("--compute-dtype", to.compute_dtype, "[bf16]")->group(group);
    command.add_option("--optimizer-state-dtype", to.optimizer_state_dtype, "[fp32]")->group(group);
    command.add_flag("--master-weights", to.master_weights, "keep an fp32 copy of the parameters")
        ->group(group);
    command
        .add_option("--master-dtype", to.master_dtype,
                    "deepspeed: type of the master weights and of the gradients they are updated with [fp32]")
        ->group(group);
    command
        .add_option("--optimizer", to.optimizer, "adamw_fused, adamw_foreach, adamw_8bit, sgd [adamw_fused]")
        ->group(group);
    command
        .add_option("--offload", to.offload,
                    "optimizer, parameters or both: in host memory, updated by the CPU [none]")
        ->group(group);
    command.add_option("--max-grad-norm", to.max_grad_norm, "clip gradients to this norm [off]")
        ->group(group);
}

// Axes of the mesh that exist in the plan but have no strategy yet: a 1 is accepted, more is refused.
void add_reserved(CLI::App& command) {
    for (const char* name :
         {"--tensor-parallel", "--pipeline-parallel", "--context-parallel", "--expert-parallel"})
        command
            .add_option_function<int>(
                name,
                [name](const int& ranks) {
                    if (ranks != 1)
                        throw InputError(name, "not modelled yet",
                                         "leave it out: data parallelism, ZeRO and FSDP are modelled");
                })
            ->group("");
}

void add_loss(CLI::App& command, TrainingOptions& to) {
    const char* group = kStrategy;
    command
        .add_option("--loss-chunk", to.loss_chunk,
                    "native: tokens of logits held at once; pytorch: tokens per call of head and loss, as "
                    "torchtune's chunked cross-entropy; 0: all [native 2048, others 0]")
        ->group(group);
    command.add_flag("--compile-loss", to.compile_loss, "pytorch: the loss is compiled: no logits in fp32")
        ->group(group);
    command
        .add_flag("--loss-upcast,!--no-loss-upcast", to.loss_upcast,
                  "pytorch: the loss takes the logits in fp32 [on]")
        ->group(group);
    command
        .add_flag(
            "--loss-outside", to.loss_outside,
            "pytorch: the script computes the loss from the model's logits [the model does, as transformers]")
        ->group(group);
    command
        .add_flag("--keep-logits", to.keep_logits,
                  "pytorch, deepspeed: the script holds the logits through backward")
        ->group(group);
}

}  // namespace

void TrainingOptions::add_to(CLI::App& command) {
    const char* group = kStrategy;
    command.add_option("--runtime", runtime, "native, pytorch, deepspeed [native]")->group(group);
    command
        .add_option("--deepspeed-config", deepspeed_config,
                    "a DeepSpeed config (JSON): its stage, precision, batch, buckets and offload")
        ->group(group);
    command
        .add_option(
            "--deepspeed-version", deepspeed_version,
            "deepspeed: the release, as in 0.14.2: up to 0.4.3 ZeRO-3 gathered and reduced each parameter by "
            "itself, before 0.17.2 it kept its reduce bucket [today's]")
        ->group(group);
    command.add_flag("--compile", compile, "the layers are compiled (pytorch)")->group(group);
    command
        .add_option("--strategy", strategy,
                    "single,ddp,zero1,zero2,fsdp (zero3),fsdp_shard_grad_op,hsdp [all the runtime has]")
        ->group(group);
    command.add_option("--shard-group", shard_group, "hsdp: GPUs that share one copy of the parameters")
        ->group(group);
    command
        .add_option("--fsdp-version", fsdp_version,
                    "pytorch: 2, fully_shard, or 1, FullyShardedDataParallel with its flat parameters [2]")
        ->group(group);
    command
        .add_flag("--limit-all-gathers,!--no-limit-all-gathers", limit_all_gathers,
                  "FSDP1: the host issues a gather only when an earlier one's memory is free again [on]")
        ->group(group);
    command
        .add_flag(
            "--use-orig-params,!--no-use-orig-params", use_orig_params,
            "FSDP1: the optimizer updates parts of weights, as accelerate has it, or flat parameters [on]")
        ->group(group);
    command
        .add_option(
            "--recompute", recompute,
            "none, pointwise, selective, full [native: pointwise, others: none]; selective keeps, native: "
            "attention; pytorch, as torchtitan does: attention and every other product")
        ->group(group);
    command
        .add_option("--recompute-every", recompute_every,
                    "pytorch, with --recompute selective: every so many layers, one is recomputed whole")
        ->group(group);
    command
        .add_option("--attention", attention,
                    "flash, flash2, flash1: fused, by the newest or an older library; eager: scores in "
                    "memory; masked: fused, causality as a mask tensor (transformers up to 4.4x); "
                    "fused_softmax: eager, with one kernel between the products [the model's own: flash]")
        ->group(group);
    command
        .add_flag("--repeat-kv", repeat_kv,
                  "pytorch: keys and values are copied for each query head [fewer heads go to attention as "
                  "they are]")
        ->group(group);
    add_loss(command, *this);
    command
        .add_flag("--gradient-as-bucket-view,!--no-gradient-as-bucket-view", gradient_as_bucket_view,
                  "DDP: gradients live in the buckets [on]")
        ->group(group);
    command
        .add_flag(
            "--window-mask", window_mask,
            "pytorch: a sliding window as long as the sequence is a mask tensor too [only a shorter one]")
        ->group(group);
    command.add_option("--profile", profile, "calibration profile [the GPU's, else its data sheet]")
        ->group(group);
    add_batch(command, *this);
    add_precision(command, *this);
    add_reserved(command);
}

void MoneyOptions::add_to(CLI::App& command) {
    command.add_option("--price", price, "\"2.10 USD/GPU/h\"")->group("Money");
    command.add_option("--tokens-total", tokens_total, "tokens of the whole training, e.g. 1e9")
        ->group("Money");
}

void OutputOptions::add_to(CLI::App& command, const std::string& more_formats) {
    command
        .add_option("--format", format,
                    "table, json, csv, markdown" + more_formats + " [table on a terminal, else json]")
        ->group("Output");
    command.add_flag("--quiet", quiet, "no warnings and no progress")->group("Output");
}

}  // namespace wirewise
