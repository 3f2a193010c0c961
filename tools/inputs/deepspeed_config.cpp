#include "tools/inputs/deepspeed_config.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "model/transformer/parse_json.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/files.hpp"

namespace wirewise {

namespace {

using nlohmann::json;

// One object of the file; values that are absent or "auto" are nothing.
class Section {
  public:
    Section(const json& object, std::string place) : object_(object), place_(std::move(place)) {
        if (!object.is_object()) throw InputError(place_, "is not an object", "give a DeepSpeed config");
    }

    Section at(const std::string& key) const {
        static const json empty = json::object();
        const auto found = object_.find(key);
        return {found == object_.end() || found->is_null() ? empty : *found, place_ + "/" + key};
    }
    std::optional<std::int64_t> count(const std::string& key) const {
        const json* value = find(key);
        if (!value) return std::nullopt;
        constexpr double kMost = 1e15;
        const double number = value->is_number() ? value->get<double>() : -1;
        if (!(number >= 0 && number <= kMost) || number != std::floor(number))
            throw InputError(place_ + "/" + key, fmt::format("{} is not a whole number", value->dump()),
                             "write a number, or \"auto\"");
        return static_cast<std::int64_t>(number);
    }
    std::optional<double> number(const std::string& key) const {
        const json* value = find(key);
        if (!value) return std::nullopt;
        if (!value->is_number())
            throw InputError(place_ + "/" + key, fmt::format("{} is not a number", value->dump()),
                             "write a number");
        return value->get<double>();
    }
    std::optional<bool> flag(const std::string& key) const {
        const json* value = find(key);
        if (!value) return std::nullopt;
        if (!value->is_boolean())
            throw InputError(place_ + "/" + key, fmt::format("{} is not true or false", value->dump()),
                             "write true, false or \"auto\"");
        return value->get<bool>();
    }
    std::optional<std::string> word(const std::string& key) const {
        const json* value = find(key);
        if (!value) return std::nullopt;
        if (!value->is_string())
            throw InputError(place_ + "/" + key, fmt::format("{} is not a word", value->dump()),
                             "write a string");
        return value->get<std::string>();
    }
    std::string place(const std::string& key) const { return place_ + "/" + key; }
    bool says(const std::string& key) const { return find(key) != nullptr; }

  private:
    const json* find(const std::string& key) const {
        const auto found = object_.find(key);
        if (found == object_.end() || found->is_null() || *found == "auto") return nullptr;
        return &*found;
    }

    const json& object_;
    std::string place_;
};

// The file's value, unless the command line says another one than the option's default.
template <class T>
void take(T& option, const std::optional<T>& said, const T& usual, const std::string& place,
          const char* name) {
    if (!said) return;
    if (option != usual && option != *said)
        throw InputError(place, fmt::format("disagrees with {}", name), "leave one of the two out");
    option = *said;
}

void take_batch(const Section& root, TrainingOptions& to) {
    const TrainingOptions usual;
    take(to.micro_batch, root.count("train_micro_batch_size_per_gpu"), usual.micro_batch,
         root.place("train_micro_batch_size_per_gpu"), "--micro-batch");
    take(to.gradient_accumulation, root.count("gradient_accumulation_steps"), usual.gradient_accumulation,
         root.place("gradient_accumulation_steps"), "--gradient-accumulation");
    if (const auto batch = root.count("train_batch_size");
        batch && !root.says("gradient_accumulation_steps")) {
        std::int64_t asked = to.global_batch.value_or(*batch);
        take(asked, batch, *batch, root.place("train_batch_size"), "--global-batch");
        to.global_batch = asked;
    }
    take(to.max_grad_norm, root.number("gradient_clipping"), usual.max_grad_norm,
         root.place("gradient_clipping"), "--max-grad-norm");
}

void take_precision(const Section& root, TrainingOptions& to) {
    const bool fp16 = root.at("fp16").flag("enabled").value_or(false);
    const bool bf16 = root.at("bf16").flag("enabled").value_or(false);
    if (fp16 && bf16) throw InputError(root.place("fp16"), "is enabled beside bf16", "enable one of the two");
    const bool silent = !root.at("fp16").says("enabled") && !root.at("bf16").says("enabled");
    if (silent) return;
    const std::string type = fp16 ? "fp16" : bf16 ? "bf16" : "fp32";
    take(to.parameter_dtype, std::optional(type), std::string("bf16"), root.place(type), "--parameter-dtype");
    to.compute_dtype = to.parameter_dtype;
    if (root.at("bf16").flag("bf16_master_weights_and_grads").value_or(false)) to.master_dtype = "bf16";
    if (root.at("bf16").flag("bf16_optimizer_states").value_or(false)) to.optimizer_state_dtype = "bf16";
}

std::string offloaded(const Section& zero, const std::string& key) {
    const std::string device = zero.at(key).word("device").value_or("none");
    if (device == "none" || device == "cpu") return device == "cpu" ? "yes" : "";
    throw InputError(zero.at(key).place("device"), fmt::format("\"{}\" is not modelled", device),
                     "write cpu or none");
}

void take_offload(const Section& zero, TrainingOptions& to) {
    std::string offload;
    if (!offloaded(zero, "offload_optimizer").empty() || zero.flag("cpu_offload").value_or(false))
        offload = "optimizer";
    if (!offloaded(zero, "offload_param").empty()) offload += offload.empty() ? "parameters" : ",parameters";
    if (!offload.empty())
        take(to.offload, std::optional(offload), std::string(), zero.place("offload_optimizer"), "--offload");
}

void take_stage(const Section& zero, TrainingOptions& to) {
    constexpr std::array kStages{"ddp", "zero1", "zero2", "zero3"};
    const std::int64_t stage = zero.count("stage").value_or(0);
    if (stage >= static_cast<std::int64_t>(kStages.size()))
        throw InputError(zero.place("stage"), fmt::format("{} is no stage", stage), "write 0 to 3");
    const std::string strategy = kStages.at(static_cast<std::size_t>(stage));
    if (to.strategy == "fsdp") to.strategy = "zero3";
    take(to.strategy, std::optional(strategy), std::string("all"), zero.place("stage"), "--strategy");
}

void take_buckets(const Section& zero, DeepSpeedSettings& to) {
    const auto set = [&](std::int64_t& size, const char* key) {
        if (const auto said = zero.count(key)) size = *said;
    };
    set(to.reduce_bucket_size, "reduce_bucket_size");
    set(to.allgather_bucket_size, "allgather_bucket_size");
    set(to.prefetch_bucket_size, "stage3_prefetch_bucket_size");
    set(to.param_persistence_threshold, "stage3_param_persistence_threshold");
    set(to.max_live_parameters, "stage3_max_live_parameters");
    set(to.max_reuse_distance, "stage3_max_reuse_distance");
    set(to.sub_group_size, "sub_group_size");
    if (const auto overlap = zero.flag("overlap_comm")) to.overlap_comm = *overlap;
    if (to.reduce_bucket_size < 1 || to.sub_group_size < 1)
        throw InputError(zero.place(to.sub_group_size < 1 ? "sub_group_size" : "reduce_bucket_size"),
                         "is zero", "write a number of elements");
}

void warn(const Section& root, const Section& zero, std::vector<std::string>& warnings) {
    for (const char* key : {"zero_quantized_weights", "zero_quantized_gradients", "zero_hpz_partition_size",
                            "mics_shard_size", "round_robin_gradients"})
        if (zero.says(key)) warnings.push_back(fmt::format("{} is not modelled: ignored", zero.place(key)));
    for (const char* key :
         {"activation_checkpointing", "data_types", "communication_data_type", "torch_autocast"})
        if (root.says(key)) warnings.push_back(fmt::format("{} is not modelled: ignored", root.place(key)));
}

}  // namespace

void apply_deepspeed_config(const std::string& path, TrainingOptions& options,
                            std::vector<std::string>& warnings) {
    const json file = parse_json(text_of_file(path, "--deepspeed-config"), path);
    const Section root(file, path + ":"), zero = root.at("zero_optimization");
    if (options.runtime == "native")
        options.runtime = "deepspeed";  // the default: a config of DeepSpeed's means it
    take_batch(root, options);
    take_precision(root, options);
    take_stage(zero, options);
    take_offload(zero, options);
    take_buckets(zero, options.deepspeed);
    warn(root, zero, warnings);
}

}  // namespace wirewise
