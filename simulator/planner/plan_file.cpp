#include "simulator/planner/plan_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "wirewise.plan_file/1";
constexpr std::int64_t kMostOfAnything = 1'000'000'000, kMostRanks = 1 << 20;

// Reads keys of one object, naming place and key when one is missing or of another type.
class Reader {
  public:
    Reader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
        if (!json.is_object())
            throw InputError(place_, "is not a JSON object", "write it with wirewise plan --plan-out");
    }

    const Json& at(const char* key) const {
        const auto found = json_.find(key);
        if (found == json_.end())
            throw InputError(place_ + "/" + key, "is missing", "write it with wirewise plan --plan-out");
        return *found;
    }

    bool has(const char* key) const { return json_.contains(key); }

    template <class T>
    T get(const char* key) const try {
        return at(key).template get<T>();
    } catch (const Json::exception&) {
        throw InputError(place_ + "/" + key, fmt::format("{} is of the wrong type", at(key).dump()),
                         "write it with wirewise plan --plan-out");
    }

    // A word that `from` understands.
    template <class From>
    auto word(const char* key, From from) const {
        const auto value = from(get<std::string>(key));
        if (!value)
            throw InputError(place_ + "/" + key, fmt::format("unknown word {}", at(key).dump()),
                             "write it with wirewise plan --plan-out");
        return *value;
    }

    std::int64_t count(const char* key, std::int64_t least, std::int64_t most = kMostOfAnything) const {
        const Json& number = at(key);
        if (!number.is_number_integer() || number < least || number > most)
            throw InputError(place_ + "/" + key, fmt::format("{} is out of range", number.dump()),
                             fmt::format("write {} to {}", least, most));
        return number.get<std::int64_t>();
    }

    std::uint64_t whole(const char* key) const {
        if (!at(key).is_number_unsigned())
            throw InputError(place_ + "/" + key, fmt::format("{} is no whole number", at(key).dump()),
                             "write 0 or more");
        return at(key).get<std::uint64_t>();
    }

    // The norm of a plan that clips; a plan that says to clip must say to which norm.
    double norm(bool clips) const {
        const auto value = get<double>("max_grad_norm");
        if (clips && !(value > 0))
            throw InputError(place_ + "/max_grad_norm", fmt::format("{} is no norm to clip to", value),
                             "write a positive number");
        return value;
    }

  private:
    const Json& json_;
    std::string place_;
};

std::optional<OptimizerKind> optimizer_from(std::string_view name) {
    for (const auto kind : {OptimizerKind::adamw_fused, OptimizerKind::adamw_foreach,
                            OptimizerKind::adamw_8bit, OptimizerKind::sgd})
        if (name_of(kind) == name) return kind;
    return std::nullopt;
}

Json deepspeed_json(const DeepSpeedSettings& settings) {
    Json json{{"reduce_bucket_size", settings.reduce_bucket_size},
              {"allgather_bucket_size", settings.allgather_bucket_size},
              {"stage3_prefetch_bucket_size", settings.prefetch_bucket_size},
              {"stage3_param_persistence_threshold", settings.param_persistence_threshold},
              {"stage3_max_live_parameters", settings.max_live_parameters},
              {"stage3_max_reuse_distance", settings.max_reuse_distance},
              {"sub_group_size", settings.sub_group_size}};
    if (settings.overlap_comm) json["overlap_comm"] = *settings.overlap_comm;
    if (settings.version) json["deepspeed_version"] = to_text(*settings.version);
    return json;
}

// The axes that are reserved must be 1, and the others those that the strategy makes of so many ranks.
Mesh read_mesh(const Reader& from, Strategy strategy, const std::string& place) {
    const auto axis = [&](const char* key, std::int64_t most) {
        return static_cast<int>(from.count(key, 1, most));
    };
    Mesh mesh{.replicate = axis("replicate", kMostRanks), .shard = axis("shard", kMostRanks)};
    mesh.tensor = axis("tensor", 1), mesh.pipeline = axis("pipeline", 1);
    mesh.context = axis("context", 1), mesh.expert = axis("expert", 1);
    const std::int64_t ranks = std::int64_t{mesh.replicate} * mesh.shard;
    const bool fits = ranks <= kMostRanks && (strategy != Strategy::single || ranks == 1) &&
                      mesh == mesh_for(strategy, static_cast<int>(ranks), mesh.shard);
    if (!fits)
        throw InputError(
            place, fmt::format("{} x {} is no mesh of {}", mesh.replicate, mesh.shard, name_of(strategy)),
            "write it with wirewise plan --plan-out");
    return mesh;
}

Precision read_precision(const Reader& from) {
    return {from.word("parameter_dtype", dtype_from),       from.word("gradient_dtype", dtype_from),
            from.word("reduce_dtype", dtype_from),          from.word("compute_dtype", dtype_from),
            from.word("optimizer_state_dtype", dtype_from), from.get<bool>("master_weights"),
            from.word("master_dtype", dtype_from)};
}

// Keys of plans that offload, or of DeepSpeed's.
void read_host(const Reader& from, ParallelPlan& plan) {
    if (from.has("offload_optimizer")) plan.offload.optimizer = from.get<bool>("offload_optimizer");
    if (from.has("offload_parameters")) plan.offload.parameters = from.get<bool>("offload_parameters");
    if (plan.runtime != Runtime::deepspeed) return;
    constexpr std::int64_t kMost = 1'000'000'000'000'000;
    DeepSpeedSettings& settings = plan.deepspeed;
    settings.reduce_bucket_size = from.count("reduce_bucket_size", 1, kMost);
    settings.allgather_bucket_size = from.count("allgather_bucket_size", 0, kMost);
    settings.prefetch_bucket_size = from.count("stage3_prefetch_bucket_size", 0, kMost);
    settings.param_persistence_threshold = from.count("stage3_param_persistence_threshold", 0, kMost);
    settings.max_live_parameters = from.count("stage3_max_live_parameters", 0, kMost);
    settings.max_reuse_distance = from.count("stage3_max_reuse_distance", 0, kMost);
    settings.sub_group_size = from.count("sub_group_size", 1, kMost);
    if (from.has("deepspeed_version"))
        settings.version = from.word("deepspeed_version", deepspeed_version_from);
    if (from.has("overlap_comm")) settings.overlap_comm = from.get<bool>("overlap_comm");
}

ParallelPlan read_plan(const Reader& from, const std::string& place) {
    ParallelPlan plan;
    plan.strategy = from.word("strategy", strategy_from);
    plan.runtime = from.word("runtime", runtime_from);
    plan.mesh = read_mesh(Reader(from.at("mesh"), place + "/mesh"), plan.strategy, place + "/mesh");
    plan.sequence_length = from.count("sequence_length", 1);
    plan.micro_batch = from.count("micro_batch", 1);
    plan.gradient_accumulation = from.count("gradient_accumulation", 1);
    plan.precision = read_precision(from);
    plan.optimizer = from.word("optimizer", optimizer_from);
    plan.recompute = from.word("recompute", recompute_from);
    plan.recompute_every = from.count("recompute_every", 0);
    plan.loss_chunk = from.count("loss_chunk", 0);
    plan.loss.upcasts = from.get<bool>("loss_upcast");
    plan.loss.compiled = from.get<bool>("compile_loss");
    plan.loss.keeps_logits = from.get<bool>("keep_logits");
    plan.loss.outside = from.get<bool>("loss_outside");
    plan.gradient_as_bucket_view = from.get<bool>("gradient_as_bucket_view");
    plan.window_mask = from.get<bool>("window_mask");
    plan.compute_capability = from.get<double>("compute_capability");
    plan.no_sync = from.get<bool>("no_sync");
    plan.clip_gradients = from.get<bool>("clip_gradients");
    plan.compile = from.get<bool>("compile");
    plan.seed = from.whole("seed");
    if (from.has("fsdp_version")) plan.fsdp_version = static_cast<int>(from.count("fsdp_version", 1, 2));
    if (from.has("limit_all_gathers")) plan.limit_all_gathers = from.get<bool>("limit_all_gathers");
    if (from.has("use_orig_params")) plan.use_orig_params = from.get<bool>("use_orig_params");
    read_host(from, plan);
    return plan;
}

}  // namespace

Json mesh_json(const Mesh& mesh) {
    return {{"replicate", mesh.replicate}, {"shard", mesh.shard},     {"tensor", mesh.tensor},
            {"pipeline", mesh.pipeline},   {"context", mesh.context}, {"expert", mesh.expert}};
}

Json precision_json(const Precision& precision) {
    return {{"parameter_dtype", name_of(precision.parameter)},
            {"gradient_dtype", name_of(precision.gradient)},
            {"reduce_dtype", name_of(precision.reduce)},
            {"compute_dtype", name_of(precision.compute)},
            {"optimizer_state_dtype", name_of(precision.optimizer_state)},
            {"master_weights", precision.master_weights},
            {"master_dtype", name_of(precision.master)}};
}

Json to_json(const PlanFile& file) {
    const ParallelPlan& plan = file.plan;
    Json json{{"schema", kSchema},
              {"model", file.model},
              {"model_overrides", file.model_overrides},
              {"machine", file.machine},
              {"nodes", file.nodes},
              {"gpus", file.gpus},
              {"nccl_env", file.nccl_env},
              {"strategy", name_of(plan.strategy)},
              {"runtime", name_of(plan.runtime)},
              {"mesh", mesh_json(plan.mesh)},
              {"sequence_length", plan.sequence_length},
              {"micro_batch", plan.micro_batch},
              {"gradient_accumulation", plan.gradient_accumulation}};
    json.update(precision_json(plan.precision));
    json.update({{"optimizer", name_of(plan.optimizer)},
                 {"recompute", name_of(plan.recompute)},
                 {"recompute_every", plan.recompute_every},
                 {"loss_chunk", plan.loss_chunk},
                 {"loss_upcast", plan.loss.upcasts},
                 {"compile_loss", plan.loss.compiled},
                 {"keep_logits", plan.loss.keeps_logits},
                 {"loss_outside", plan.loss.outside},
                 {"gradient_as_bucket_view", plan.gradient_as_bucket_view},
                 {"window_mask", plan.window_mask},
                 {"compute_capability", plan.compute_capability},
                 {"no_sync", plan.no_sync},
                 {"clip_gradients", plan.clip_gradients},
                 {"max_grad_norm", file.max_grad_norm},
                 {"compile", plan.compile},
                 {"seed", plan.seed}});
    if (plan.offload.any())
        json.update(
            {{"offload_optimizer", plan.offload.optimizer}, {"offload_parameters", plan.offload.parameters}});
    if (plan.runtime == Runtime::pytorch)
        json.update({{"fsdp_version", plan.fsdp_version},
                     {"limit_all_gathers", plan.limit_all_gathers},
                     {"use_orig_params", plan.use_orig_params}});
    if (plan.runtime == Runtime::deepspeed) json.update(deepspeed_json(plan.deepspeed));
    return json;
}

PlanFile plan_file_from_json(const Json& json, const std::string& place) {
    const Reader from(json, place + ":");
    if (from.get<std::string>("schema") != kSchema)
        throw InputError(place + ":/schema", "is not " + std::string(kSchema),
                         "write it with wirewise plan --plan-out");
    PlanFile file;
    file.model = from.get<std::string>("model");
    file.model_overrides = from.get<std::vector<std::string>>("model_overrides");
    file.machine = from.get<std::string>("machine");
    file.nodes = static_cast<int>(from.count("nodes", 1, kMostRanks));
    file.gpus = from.get<std::vector<int>>("gpus");
    file.nccl_env = from.get<std::vector<std::string>>("nccl_env");
    file.plan = read_plan(from, place + ":");
    file.max_grad_norm = from.norm(file.plan.clip_gradients);
    return file;
}

}  // namespace wirewise
