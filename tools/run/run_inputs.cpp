#include "tools/run/run_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "executor/training/checkpoint.hpp"
#include "executor/training/seeded_weights.hpp"
#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"
#include "simulator/planner/plan_file.hpp"
#include "tools/inputs/beside.hpp"
#include "tools/inputs/files.hpp"
#include "tools/inputs/training.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

namespace {

constexpr std::int64_t kDefaultSteps = 10, kMostRanks = 64;

double finite(double value, double least, const char* option) {
    if (!std::isfinite(value) || value < least)
        throw InputError(option, fmt::format("{} is out of range", value),
                         fmt::format("write {} or more", least));
    return value;
}

double beta_of(const std::string& word) try {
    std::size_t used = 0;
    const double value = std::stod(word, &used);
    if (used == word.size() && value >= 0 && value < 1) return value;
    throw std::invalid_argument(word);
} catch (const std::logic_error&) {
    throw InputError("--betas", "\"" + word + "\" is no number from 0 to 1", "write for example 0.9,0.95");
}

void set_numbers(const RunOptions& options, Hyperparameters& numbers) {
    const std::vector<std::string> betas = split(options.betas, ',');
    if (betas.size() != 2) throw InputError("--betas", "needs two numbers", "write for example 0.9,0.95");
    numbers.learning_rate = finite(options.learning_rate, 0, "--learning-rate");
    numbers.beta1 = beta_of(betas[0]);
    numbers.beta2 = beta_of(betas[1]);
    numbers.epsilon = finite(options.epsilon, 0, "--eps");
    numbers.weight_decay = finite(options.weight_decay, 0, "--weight-decay");
    numbers.stochastic_rounding = options.stochastic_rounding;
}

int ranks_of(const RunOptions& options, bool single, int most) {
    if (!options.machine.gpu_ids.empty()) return static_cast<int>(split(options.machine.gpu_ids, ',').size());
    if (!options.machine.gpus) return single ? 1 : most;
    const int gpus = *options.machine.gpus;
    if (gpus < 1 || gpus > kMostRanks)
        throw InputError("--gpus", fmt::format("{} is no number of ranks", gpus),
                         fmt::format("write 1 to {}", kMostRanks));
    return gpus;
}

void set_strategy(const RunOptions& options, const RankCount& count, ParallelPlan& plan) {
    const std::string& word = options.training.strategy;
    const bool chosen = word != "all";
    const auto named = strategy_from(word);
    if (chosen && !named)
        throw InputError("--strategy", fmt::format("\"{}\" is not one strategy", word),
                         "write single, ddp, zero1, zero2, fsdp, fsdp_shard_grad_op or hsdp");
    const int ranks =
        count.started ? *count.started : ranks_of(options, named == Strategy::single, count.most);
    plan.strategy = named.value_or(ranks == 1 ? Strategy::single : Strategy::fsdp);
    const std::int64_t group =
        positive(options.training.shard_group.value_or(std::max(1, ranks / 2)), "--shard-group");
    plan.mesh = mesh_for(plan.strategy, ranks, static_cast<int>(group));
}

// The accumulation that makes the sequences asked for; after the strategy, which says how many ranks share.
void set_global_batch(const TrainingOptions& options, ParallelPlan& plan) {
    if (!options.global_batch) return;
    const std::int64_t together = plan.micro_batch * plan.mesh.world();
    if (positive(*options.global_batch, "--global-batch") % together != 0)
        throw InputError(
            "--global-batch",
            fmt::format("{} is not a multiple of micro-batch x ranks = {}", *options.global_batch, together),
            fmt::format("write for example {}", 2 * together));
    plan.gradient_accumulation = *options.global_batch / together;
}

// The file says how many ranks there are.
void require_ranks_of(const ParallelPlan& plan, const RunOptions& options, const RankCount& count) {
    const int world = plan.mesh.world();
    const auto refuse = [&](const char* option, int ranks) {
        if (ranks != world)
            throw InputError(
                option, fmt::format("{} ranks, but --plan {} is a plan for {}", ranks, options.plan, world),
                fmt::format("leave {} out, or write another plan: wirewise plan --gpus {} "
                            "--plan-out FILE",
                            option, ranks));
    };
    if (count.started && *count.started != world)
        throw InputError("--plan",
                         fmt::format("is a plan for {} ranks; {} were started", world, *count.started),
                         "start as many as the plan has");
    if (count.started) return;
    if (options.machine.gpus) refuse("--gpus", *options.machine.gpus);
    if (!options.machine.gpu_ids.empty())
        refuse("--gpu-ids", static_cast<int>(split(options.machine.gpu_ids, ',').size()));
}

// The plan file's model and plan, or those of the options.
void set_model_and_plan(const RunOptions& options, const RankCount& count, RunInputs& inputs) {
    std::string name = options.model.model.empty() ? options.checkpoint : options.model.model;
    std::vector<std::string> overrides = options.model.set;
    std::optional<PlanFile> file;
    if (!options.plan.empty()) {
        const auto json = nlohmann::ordered_json::parse(text_of_file(options.plan, "--plan"), nullptr, false);
        file = plan_file_from_json(json, options.plan);
        if (name.empty()) name = found_beside(file->model, options.plan);
        overrides.insert(overrides.begin(), file->model_overrides.begin(), file->model_overrides.end());
    }
    if (name.empty()) throw InputError("--model", "is missing", "write --model, --checkpoint or --plan");
    inputs.model = load_model(name, overrides);
    inputs.config = config_text(name, overrides);
    if (file) {
        inputs.plan = file->plan;
        inputs.numbers.max_gradient_norm = file->max_grad_norm;
        require_ranks_of(inputs.plan, options, count);
        return;
    }
    inputs.plan = plan_template(options.training, inputs.model, inputs.warnings);
    inputs.numbers.max_gradient_norm = options.training.max_grad_norm;
    set_strategy(options, count, inputs.plan);
    set_global_batch(options.training, inputs.plan);
}

std::optional<TokenWidth> token_width_of(const std::string& word) {
    if (word.empty()) return std::nullopt;
    if (word == "uint16") return TokenWidth::two_bytes;
    if (word == "uint32") return TokenWidth::four_bytes;
    throw InputError("--token-width", "\"" + word + "\" is no width", "write uint16 or uint32");
}

// A token file that fixes the batch fixes sequence length and micro-batch too.
void fit_plan_to(BatchShape shape, const RunOptions& options, ParallelPlan& plan) {
    const auto asked = options.training.global_batch;
    if (asked && *asked != shape.batch)
        throw InputError("--global-batch",
                         fmt::format("{} is asked for, but {} has {} sequences a step", *asked,
                                     options.tokens, shape.batch),
                         "leave it out");
    const std::int64_t parts = plan.mesh.world() * plan.gradient_accumulation;
    if (shape.batch % parts != 0)
        throw InputError(options.tokens,
                         fmt::format("its {} sequences a step do not divide by {} ranks x {} accumulation",
                                     shape.batch, plan.mesh.world(), plan.gradient_accumulation),
                         "choose other --gpus or --gradient-accumulation");
    plan.sequence_length = shape.sequence;
    plan.micro_batch = shape.batch / parts;
}

void set_tokens(const RunOptions& options, RunInputs& inputs) {
    ParallelPlan& plan = inputs.plan;
    inputs.tokens = options.tokens.empty() ? generated_tokens(options.seed, inputs.model.vocabulary)
                                           : open_tokens(options.tokens, inputs.model.vocabulary,
                                                         token_width_of(options.token_width));
    if (const auto shape = inputs.tokens->shape()) fit_plan_to(*shape, options, plan);
    inputs.batch = {plan.micro_batch * plan.mesh.world() * plan.gradient_accumulation, plan.sequence_length};
    if (options.steps && *options.steps < 1)
        throw InputError("--steps", fmt::format("{} is no number of steps", *options.steps),
                         "write 1 or more");
    inputs.steps = options.steps ? *options.steps : inputs.tokens->steps().value_or(kDefaultSteps);
}

void require_something_to_round(const RunInputs& inputs) {
    const Precision& precision = inputs.plan.precision;
    if (inputs.numbers.stochastic_rounding &&
        (precision.parameter != DType::bf16 || precision.master_weights))
        throw InputError("--stochastic-rounding",
                         precision.master_weights ? "the update rounds nothing: it keeps fp32 master weights"
                                                  : "it is for bf16 parameters",
                         "leave it out, or write --parameter-dtype bf16 without --master-weights");
}

}  // namespace

void warn_of_machine(const RunOptions& options, std::vector<std::string>& warnings) {
    const MachineOptions& machine = options.machine;
    const std::pair<bool, const char*> said[] = {
        {!machine.machine.empty(), "--machine"},         {!machine.gpu.empty(), "--gpu"},
        {!machine.set_machine.empty(), "--set-machine"}, {!machine.without.empty(), "--without"},
        {!machine.fabric.empty(), "--fabric"},           {!machine.nccl_env.empty(), "--nccl-env"}};
    std::vector<std::string> names;
    for (const auto& [is_said, name] : said)
        if (is_said) names.emplace_back(name);
    if (!names.empty())
        warnings.push_back(
            fmt::format("{} {} no effect: with --backend host the ranks are threads or "
                        "processes on this machine's CPU",
                        fmt::join(names, ", "), names.size() == 1 ? "has" : "have"));
}

RunInputs run_inputs_of(const RunOptions& options, const RankCount& count) {
    RunInputs inputs{.machine = options.machine};
    set_model_and_plan(options, count, inputs);
    set_numbers(options, inputs.numbers);
    require_something_to_round(inputs);
    inputs.plan.seed = options.seed;
    set_tokens(options, inputs);
    return inputs;
}

std::unique_ptr<WeightSource> weights_of(const RunOptions& options, const RunInputs& inputs) {
    if (options.checkpoint.empty()) return std::make_unique<SeededWeights>(options.seed);
    auto checkpoint = std::make_unique<Checkpoint>(options.checkpoint);
    const ModelLayout layout(inputs.model, inputs.plan.mesh.shard);
    checkpoint->check(inputs.model, unit_tensors(inputs.model, layout));
    return checkpoint;
}

}  // namespace wirewise
