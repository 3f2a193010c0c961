#include "tools/inputs/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include <CLI/CLI.hpp>

#include "model/cost/attention_library.hpp"
#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"
#include "simulator/planner/placement.hpp"
#include "simulator/planner/plan_file.hpp"
#include "tools/inputs/deepspeed_config.hpp"
#include "tools/inputs/machine.hpp"
#include "tools/inputs/profile.hpp"
#include "tools/inputs/training.hpp"

namespace wirewise {

namespace {

void set_gpus(const PlanOptions& options, Inputs& inputs) {
    Question& question = inputs.question;
    question.gpus = named_gpus(options.machine, question.machine);
    if (!question.gpus.empty()) {
        inputs.placement = fmt::format("GPUs {}, as asked", options.machine.gpu_ids);
    } else {
        const ChosenGpus placement = choose_gpus(question.machine, question.environment,
                                                 gpus_per_node(options.machine, question.machine));
        question.gpus = placement.gpus;
        inputs.placement = placement.why;
    }
    require_one_gpu_kind(question.machine, question.gpus);
}

int shard_group_of(const TrainingOptions& options, const Question& question) {
    if (options.shard_group) return static_cast<int>(positive(*options.shard_group, "--shard-group"));
    return default_shard_group(question.machine, question.gpus);
}

// Named, the kind of attention holds whatever the model's reference implementation does.
void set_attention(const TrainingOptions& options, Inputs& inputs) {
    const std::string& named = options.attention;
    Question& question = inputs.question;
    const AttentionForm own = question.model.form.attention;
    const bool fused = own == AttentionForm::fused || question.plan.runtime == Runtime::native;
    inputs.attention = !named.empty() ? named : fused ? "flash" : std::string(kEagerAttention);
    question.model.form.repeated_heads = options.repeat_kv;
    if (named.empty()) return;
    question.model.form.always_masked |= named == kMaskedAttention;
    question.model.form.mask_added_once = named == kMaskedAttention;
    question.model.form.attention = named == kEagerAttention ? AttentionForm::eager
                                    : named == kFusedSoftmax ? AttentionForm::fused_softmax
                                                             : AttentionForm::fused;
    // With a mask tensor scaled_dot_product_attention takes the memory-efficient kernel, of the first
    // FlashAttention's rates.
    const bool masked = named == kMaskedAttention;
    if (const auto library = masked ? AttentionLibrary::flash1 : attention_library_from(named))
        question.profile = with_attention(std::move(question.profile),
                                          *question.machine.gpu(question.gpus.front()).model, *library);
}

double tokens_of(const MoneyOptions& options) {
    constexpr double kMost = 1e18;
    if (!(options.tokens_total >= 0 && options.tokens_total <= kMost))
        throw InputError("--tokens-total", "is not a number of tokens", "write for example 1e9");
    return options.tokens_total;
}

}  // namespace

void PlanOptions::add_to(CLI::App& command) {
    model.add_to(command);
    machine.add_to(command);
    training.add_to(command);
    money.add_to(command);
}

Inputs inputs_of(const PlanOptions& asked) {
    Inputs inputs;
    PlanOptions options = asked;
    if (!options.training.deepspeed_config.empty())
        apply_deepspeed_config(options.training.deepspeed_config, options.training, inputs.warnings);
    Question& question = inputs.question;
    question.model = load_model(options.model.model, options.model.set);
    question.plan = plan_template(options.training, question.model, inputs.warnings);
    question.machine = machine_of(options.machine, inputs.warnings);
    question.environment = environment_of(options.machine, inputs.warnings);
    set_gpus(options, inputs);
    const int ranks = static_cast<int>(question.gpus.size());
    question.shard_group = shard_group_of(options.training, question);
    question.strategies = strategies_of(options.training, question.plan.runtime, ranks, question.shard_group);
    if (options.training.global_batch)
        question.global_batch = positive(*options.training.global_batch, "--global-batch");
    question.plan.compute_capability = question.machine.gpu(question.gpus.front()).model->compute_capability;
    question.profile = profile_of(options.training.profile, question.machine, inputs.warnings);
    set_attention(options.training, inputs);
    question.samples = samples_of(options.training.profile);
    if (!options.money.price.empty()) inputs.price = price_of(options.money.price);
    inputs.tokens_total = tokens_of(options.money);
    if (inputs.price && inputs.tokens_total == 0)
        inputs.warnings.emplace_back("--price says nothing without --tokens-total");
    return inputs;
}

PlanOptions plan_options_of(const std::vector<std::string>& words, const std::string& place,
                            const std::string& remedy) {
    CLI::App app;
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    PlanOptions options;
    options.add_to(app);
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        throw InputError(place, error.what(), remedy);
    }
    return options;
}

namespace {

Json offload_words(const Offload& offload) {
    Json words = Json::array();
    if (offload.optimizer) words.push_back("optimizer");
    if (offload.parameters) words.push_back("parameters");
    return words;
}

Json deepspeed_json(const DeepSpeedSettings& settings) {
    return {{"reduce_bucket_size", settings.reduce_bucket_size},
            {"allgather_bucket_size", settings.allgather_bucket_size},
            {"overlap_comm", settings.overlap_comm ? Json(*settings.overlap_comm) : Json(nullptr)},
            {"stage3_prefetch_bucket_size", settings.prefetch_bucket_size},
            {"stage3_param_persistence_threshold", settings.param_persistence_threshold},
            {"stage3_max_live_parameters", settings.max_live_parameters},
            {"stage3_max_reuse_distance", settings.max_reuse_distance},
            {"sub_group_size", settings.sub_group_size}};
}

}  // namespace

Json echo_of(const Inputs& inputs) {
    const Question& question = inputs.question;
    const ParallelPlan& plan = question.plan;
    Json echo{{"model", question.model.name},
              {"machine", question.machine.name},
              {"nodes", question.machine.servers},
              {"fabric", question.machine.fabric.name},
              {"gpu", question.machine.gpus.front().model->name},
              {"gpus", question.gpus},
              {"placement", inputs.placement},
              {"runtime", name_of(plan.runtime)},
              {"compile", plan.compile},
              {"sequence_length", plan.sequence_length},
              {"micro_batch", plan.micro_batch},
              {"gradient_accumulation", plan.gradient_accumulation},
              {"global_batch", question.global_batch ? Json(*question.global_batch) : Json(nullptr)},
              {"no_sync", plan.no_sync},
              {"shard_group", question.shard_group}};
    echo.update(precision_json(plan.precision));
    echo.update({{"optimizer", name_of(plan.optimizer)},
                 {"clip_gradients", plan.clip_gradients},
                 {"offload", offload_words(plan.offload)},
                 {"recompute", name_of(plan.recompute)},
                 {"recompute_every", plan.recompute_every},
                 {"attention", inputs.attention},
                 {"loss_chunk", plan.loss_chunk},
                 {"gradient_as_bucket_view", plan.gradient_as_bucket_view},
                 {"window_mask", plan.window_mask},
                 {"profile", question.profile.name},
                 {"profile_measured", question.profile.measured}});
    if (plan.runtime == Runtime::pytorch) {
        echo["fsdp_version"] = plan.fsdp_version;
        echo["limit_all_gathers"] = plan.limit_all_gathers;
        echo["use_orig_params"] = plan.use_orig_params;
    }
    if (plan.runtime == Runtime::deepspeed) echo["deepspeed"] = deepspeed_json(plan.deepspeed);
    return echo;
}

}  // namespace wirewise
