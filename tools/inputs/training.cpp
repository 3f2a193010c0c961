#include "tools/inputs/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "model/cost/attention_library.hpp"
#include "model/strategy/offload_rules.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

namespace {

constexpr std::int64_t kDefaultSequence = 4096, kNativeLossChunk = 2048;

DType dtype_of(const std::string& name, const char* option) {
    const auto type = dtype_from(name);
    const bool trains = type && (*type == DType::bf16 || *type == DType::fp32 || *type == DType::fp16);
    if (!trains)
        throw InputError(option, fmt::format("\"{}\" is not a dtype for it", name),
                         "write bf16, fp32 or fp16");
    return *type;
}

OptimizerKind optimizer_of(const std::string& name) {
    for (const auto kind : {OptimizerKind::adamw_fused, OptimizerKind::adamw_foreach,
                            OptimizerKind::adamw_8bit, OptimizerKind::sgd})
        if (name_of(kind) == name) return kind;
    throw InputError("--optimizer", fmt::format("unknown optimizer \"{}\"", name),
                     "write adamw_fused, adamw_foreach, adamw_8bit or sgd");
}

Recompute recompute_of(const std::string& name, Runtime runtime) {
    if (name.empty()) return runtime == Runtime::native ? Recompute::pointwise : Recompute::none;
    const auto recompute = recompute_from(name);
    if (runtime == Runtime::pytorch && recompute == Recompute::pointwise)
        throw InputError("--recompute", "the pytorch runtime has no pointwise recomputation",
                         "write none, selective or full, or plan the native runtime");
    if (recompute) return *recompute;
    throw InputError("--recompute", fmt::format("unknown \"{}\"", name),
                     "write none, pointwise, selective or full");
}

std::int64_t recompute_every_of(const TrainingOptions& options, const ParallelPlan& plan) {
    if (!options.recompute_every) return 0;
    if (plan.runtime != Runtime::pytorch || plan.recompute != Recompute::selective)
        throw InputError("--recompute-every", "is of the pytorch runtime's selective recomputation",
                         "add --runtime pytorch --recompute selective, or leave it out");
    return positive(*options.recompute_every, "--recompute-every");
}

std::int64_t sequence_of(const TrainingOptions& options, const Transformer& model,
                         std::vector<std::string>& warnings) {
    if (!options.sequence_length)
        return model.max_position > 0 ? std::min(kDefaultSequence, model.max_position) : kDefaultSequence;
    const std::int64_t length = positive(*options.sequence_length, "--sequence-length");
    if (model.max_position == 0 || length <= model.max_position) return length;
    if (model.position == PositionKind::learned)
        throw InputError(
            "--sequence-length",
            fmt::format("{} is more than the {} positions of {}", length, model.max_position, model.name),
            fmt::format("write at most {}", model.max_position));
    warnings.push_back(fmt::format("--sequence-length {} is more than the {} positions that {} was made for",
                                   length, model.max_position, model.name));
    return length;
}

bool writes_attention_out(const TrainingOptions& options, const Transformer& model) {
    if (options.attention.empty()) return model.form.attention != AttentionForm::fused;
    return options.attention == kEagerAttention || options.attention == kFusedSoftmax;
}

int fsdp_version_of(const TrainingOptions& options, Runtime runtime) {
    if (!options.fsdp_version) return ParallelPlan{}.fsdp_version;
    const int version = *options.fsdp_version;
    if (version != 1 && version != 2)
        throw InputError("--fsdp-version", fmt::format("there is no version {}", version), "write 1 or 2");
    if (runtime != Runtime::pytorch)
        throw InputError("--fsdp-version",
                         fmt::format("is of the pytorch runtime, not of {}", name_of(runtime)),
                         "add --runtime pytorch, or leave it out");
    return version;
}

void set_fsdp(const TrainingOptions& options, ParallelPlan& plan) {
    plan.fsdp_version = fsdp_version_of(options, plan.runtime);
    plan.limit_all_gathers = options.limit_all_gathers;
    plan.use_orig_params = options.use_orig_params;
    if (plan.fsdp_version == 1 && plan.offload.any())
        throw InputError("--offload", "is not modelled for FSDP1", "write --fsdp-version 2, or leave it out");
    if (plan.fsdp_version == 1) return;
    const char* remedy = "add --fsdp-version 1, or leave it out";
    if (!plan.limit_all_gathers)
        throw InputError("--no-limit-all-gathers", "is of FSDP1; fully_shard has no rate limiter", remedy);
    if (!plan.use_orig_params)
        throw InputError("--no-use-orig-params", "is of FSDP1; fully_shard keeps each weight", remedy);
}

Precision precision_of(const TrainingOptions& options) {
    Precision precision;
    precision.parameter = dtype_of(options.parameter_dtype, "--parameter-dtype");
    const auto as_parameters = [&](const std::string& name, const char* option) {
        return name.empty() ? precision.parameter : dtype_of(name, option);
    };
    precision.gradient = as_parameters(options.gradient_dtype, "--gradient-dtype");
    precision.reduce = as_parameters(options.reduce_dtype, "--reduce-dtype");
    precision.compute = dtype_of(options.compute_dtype, "--compute-dtype");
    precision.optimizer_state = dtype_of(options.optimizer_state_dtype, "--optimizer-state-dtype");
    precision.master_weights = options.master_weights;
    precision.master = dtype_of(options.master_dtype, "--master-dtype");
    return precision;
}

void refuse_unmodelled(const TrainingOptions& options) {
    if (!options.deepspeed_version.empty() && options.runtime != name_of(Runtime::deepspeed))
        throw InputError("--deepspeed-version", "is of the deepspeed runtime",
                         "add --runtime deepspeed, or leave it out");
    if (options.master_dtype != "fp32" && options.runtime != name_of(Runtime::deepspeed))
        throw InputError("--master-dtype", "only DeepSpeed keeps master weights in 16 bits",
                         "add --runtime deepspeed, or leave it out");
    const bool eager = options.attention == kEagerAttention || options.attention == kFusedSoftmax;
    const bool known =
        eager || options.attention == kMaskedAttention || attention_library_from(options.attention);
    if (!options.attention.empty() && !known)
        throw InputError("--attention", fmt::format("\"{}\" is not modelled yet", options.attention),
                         "write flash, flash2, flash1, masked, fused_softmax or eager");
    const bool written_out = eager || options.attention == kMaskedAttention;
    if (written_out && options.runtime == name_of(Runtime::native))
        throw InputError("--attention", "the native runtime has fused attention only", "leave it out");
    if (options.repeat_kv && options.runtime == name_of(Runtime::native))
        throw InputError("--repeat-kv", "the native runtime copies no keys and values",
                         "add --runtime pytorch, or leave it out");
    if (!std::isfinite(options.max_grad_norm) || options.max_grad_norm < 0)
        throw InputError("--max-grad-norm", "is not a norm", "write a positive number, or leave it out");
    if (options.loss_chunk.value_or(0) < 0)
        throw InputError("--loss-chunk", "is negative", "write a number of tokens, 0 for all at once");
}

std::span<const Strategy> strategies_of_runtime(Runtime runtime) {
    using enum Strategy;
    static constexpr std::array native{single, ddp, zero1, zero2, fsdp, fsdp_shard_grad_op, hsdp};
    static constexpr std::array pytorch{single, ddp, zero1, fsdp, fsdp_shard_grad_op, hsdp};
    static constexpr std::array deepspeed{ddp, zero1, zero2, fsdp};
    switch (runtime) {
        case Runtime::native:
            return native;
        case Runtime::pytorch:
            return pytorch;
        case Runtime::deepspeed:
            return deepspeed;
    }
    return {};
}

// DeepSpeed's stages also run on one GPU: for the sake of offload.
int fewest_ranks(Strategy strategy, Runtime runtime) {
    if (strategy == Strategy::single || (runtime == Runtime::deepspeed && sharding_of(strategy).optimizer))
        return 1;
    return strategy == Strategy::hsdp ? 4 : 2;
}

// HSDP differs from FSDP and DDP only with at least two shard groups of at least two GPUs.
bool groups_well(int ranks, int shard_group) {
    return shard_group >= 2 && shard_group < ranks && ranks % shard_group == 0;
}

Strategy named_strategy(const std::string& name, Runtime runtime, int ranks, int shard_group) {
    const auto strategy = strategy_from(name);
    const auto known = strategies_of_runtime(runtime);
    std::vector<std::string> names{"all"};
    for (const Strategy one : known) names.emplace_back(name_of(one));
    if (!strategy)
        throw InputError("--strategy", fmt::format("unknown strategy \"{}\"", name),
                         remedy_from(name, names));
    if (std::find(known.begin(), known.end(), *strategy) == known.end())
        throw InputError("--strategy", fmt::format("{} has no {}", name_of(runtime), name),
                         fmt::format("write one of {}", fmt::join(names, ", ")));
    if (ranks < fewest_ranks(*strategy, runtime))
        throw InputError("--strategy",
                         fmt::format("{} needs at least {} GPUs, {} chosen", name,
                                     fewest_ranks(*strategy, runtime), ranks),
                         "choose more with --gpus or --gpu-ids, or write single");
    if (*strategy == Strategy::hsdp && !groups_well(ranks, shard_group))
        throw InputError(
            "--shard-group",
            fmt::format("groups of {} do not make two or more groups of {} GPUs", shard_group, ranks),
            "write a proper divisor of the number of GPUs, from 2 up");
    return *strategy;
}

Offload offload_of(const std::string& words, Runtime runtime) {
    Offload offload;
    for (const std::string& word : split(words, ',')) {
        if (word == "optimizer")
            offload.optimizer = true;
        else if (word == "parameters")
            offload.parameters = true;
        else if (!word.empty() && word != "none")
            throw InputError("--offload", fmt::format("unknown \"{}\"", word),
                             "write optimizer, parameters or both");
    }
    // The runtime's most sharded strategy tells what it can at all.
    if (const auto refusal = offload_refusal(runtime, Strategy::fsdp, offload))
        throw InputError("--offload", refusal->problem, refusal->remedy);
    return offload;
}

// Parameters, gradients and their reduction in one 16-bit type, the fp32 partition always beside them.
void as_deepspeed_has_it(const TrainingOptions& options, ParallelPlan& plan) {
    Precision& precision = plan.precision;
    if (precision.gradient != precision.parameter || precision.reduce != precision.parameter)
        throw InputError("--gradient-dtype",
                         "DeepSpeed is modelled with gradients and reduction as the parameters",
                         "leave --gradient-dtype and --reduce-dtype out");
    precision.compute = precision.parameter;
    precision.master_weights = true;
    if (precision.master != DType::fp32 && precision.master != precision.parameter)
        throw InputError("--master-dtype", "is neither fp32 nor the parameters' type",
                         "write one of the two");
    if (precision.master != DType::fp32 && plan.offload.any())
        throw InputError("--master-dtype", "masters of 16 bits are not modelled in host memory",
                         "leave out --offload or --master-dtype");
    plan.deepspeed = options.deepspeed;
    if (options.deepspeed_version.empty()) return;
    plan.deepspeed.version = deepspeed_version_from(options.deepspeed_version);
    if (!plan.deepspeed.version)
        throw InputError("--deepspeed-version",
                         fmt::format("\"{}\" is no release", options.deepspeed_version),
                         "write for example 0.14.2");
}

LossSettings loss_of(const TrainingOptions& options, Runtime runtime) {
    const LossSettings loss{options.loss_upcast, options.compile_loss, options.keep_logits,
                            options.loss_outside};
    const LossSettings deepspeeds{.keeps_logits = runtime == Runtime::deepspeed && options.keep_logits};
    if (loss != deepspeeds && runtime != Runtime::pytorch)
        throw InputError("--compile-loss, --no-loss-upcast, --keep-logits, --loss-outside",
                         fmt::format("are of the pytorch runtime, not of {}", name_of(runtime)),
                         "add --runtime pytorch, or leave them out");
    return loss;
}

// What only another runtime heeds.
void warn_without_effect(const TrainingOptions& options, Runtime runtime,
                         std::vector<std::string>& warnings) {
    const auto warn = [&](bool said, const char* option) {
        if (said && runtime != Runtime::pytorch)
            warnings.push_back(fmt::format("{} has no effect: it is of the pytorch runtime, not of {}",
                                           option, name_of(runtime)));
    };
    warn(options.window_mask, "--window-mask");
    warn(!options.gradient_as_bucket_view, "--no-gradient-as-bucket-view");
}

// Every piece of the logits is several ops of the program.
void refuse_too_many_loss_chunks(const ParallelPlan& plan) {
    constexpr std::int64_t kMost = 1 << 15;
    const std::int64_t tokens = plan.tokens_per_micro_batch();
    if (plan.loss_chunk == 0 || tokens / plan.loss_chunk <= kMost) return;
    throw InputError(
        "--loss-chunk",
        fmt::format("{} cuts the {} tokens of a micro-batch into more than {} pieces", plan.loss_chunk,
                    tokens, kMost),
        fmt::format("write {} or more, or a smaller --micro-batch or --sequence-length", tokens / kMost + 1));
}

}  // namespace

std::int64_t positive(std::int64_t value, const char* option) {
    constexpr std::int64_t kMost = 1'000'000'000;
    if (value < 1) throw InputError(option, fmt::format("{} is not a count", value), "write 1 or more");
    if (value > kMost)
        throw InputError(option, fmt::format("{} is beyond reason", value), "write at most 1e9");
    return value;
}

Runtime runtime_of(const TrainingOptions& options) {
    if (const auto runtime = runtime_from(options.runtime)) return *runtime;
    throw InputError("--runtime", fmt::format("unknown runtime \"{}\"", options.runtime),
                     "write native, pytorch or deepspeed");
}

std::vector<Strategy> strategies_of(const TrainingOptions& options, Runtime runtime, int ranks,
                                    int shard_group) {
    const Offload offload = offload_of(options.offload, runtime);
    std::vector<Strategy> chosen;
    for (const auto& name : split(options.strategy, ',')) {
        if (name == "all") {
            for (const Strategy strategy : strategies_of_runtime(runtime))
                if (ranks >= fewest_ranks(strategy, runtime) &&
                    !offload_refusal(runtime, strategy, offload) &&
                    (strategy != Strategy::hsdp || groups_well(ranks, shard_group)))
                    chosen.push_back(strategy);
        } else {
            chosen.push_back(named_strategy(name, runtime, ranks, shard_group));
        }
    }
    std::vector<Strategy> once;
    for (const Strategy strategy : chosen)
        if (std::find(once.begin(), once.end(), strategy) == once.end()) once.push_back(strategy);
    if (once.empty())
        throw InputError("--strategy", "names none that runs on one GPU",
                         "write single, or choose more GPUs");
    return once;
}

ParallelPlan plan_template(const TrainingOptions& options, const Transformer& model,
                           std::vector<std::string>& warnings) {
    refuse_unmodelled(options);
    ParallelPlan plan;
    plan.runtime = runtime_of(options);
    plan.sequence_length = sequence_of(options, model, warnings);
    plan.micro_batch = positive(options.micro_batch, "--micro-batch");
    plan.gradient_accumulation = positive(options.gradient_accumulation, "--gradient-accumulation");
    plan.precision = precision_of(options);
    plan.optimizer = optimizer_of(options.optimizer);
    plan.recompute = recompute_of(options.recompute, plan.runtime);
    plan.recompute_every = recompute_every_of(options, plan);
    plan.loss_chunk = options.loss_chunk.value_or(plan.runtime == Runtime::native ? kNativeLossChunk : 0);
    refuse_too_many_loss_chunks(plan);
    plan.loss = loss_of(options, plan.runtime);
    warn_without_effect(options, plan.runtime, warnings);
    plan.gradient_as_bucket_view = options.gradient_as_bucket_view;
    plan.window_mask = options.window_mask;
    plan.no_sync = switch_of(options.no_sync, "--no-sync");
    plan.clip_gradients = options.max_grad_norm > 0;
    plan.compile = options.compile;
    if (plan.compile && plan.runtime != Runtime::pytorch)
        throw InputError("--compile",
                         fmt::format("is of the pytorch runtime, not of {}", name_of(plan.runtime)),
                         "add --runtime pytorch, or leave it out");
    if (plan.compile && writes_attention_out(options, model))
        warnings.emplace_back(
            "--compile: attention written out is not fused here; the layers are taken as eager ones");
    plan.offload = offload_of(options.offload, plan.runtime);
    set_fsdp(options, plan);
    if (plan.runtime == Runtime::deepspeed) as_deepspeed_has_it(options, plan);
    return plan;
}

}  // namespace wirewise
