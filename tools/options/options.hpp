// The option groups that mean the same in every command: what was typed, not yet understood. Each group adds
// itself to a command; tools/inputs turns what was typed into models, machines and plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/strategy/offload.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wirewise {

struct ModelOptions {
    std::string model;
    std::vector<std::string> set;  // key=value
    CLI::Option* add_to(CLI::App& command,
                        bool positional = false);  // returns the option that names the model
};

struct MachineOptions {
    std::string machine, gpu, fabric;
    std::vector<std::string> set_machine;  // /json/pointer=value
    std::vector<std::string> without;
    int nodes = 1;
    std::optional<int> gpus;  // per node [all]
    std::string gpu_ids;      // "0,1,4,5"
    std::vector<std::string> nccl_env;
    void add_to(CLI::App& command, bool choose_gpus = true);
};

// Of --attention, besides the libraries of fused attention.
constexpr const char* kEagerAttention = "eager";
constexpr const char* kFusedSoftmax = "fused_softmax";
constexpr const char* kMaskedAttention = "masked";

struct TrainingOptions {
    std::string runtime = "native", strategy = "all";
    bool compile = false;
    std::optional<int> shard_group;               // the GPUs of one node, or half of them on one node
    std::optional<std::int64_t> sequence_length;  // 4096 or the model's limit
    std::int64_t micro_batch = 1, gradient_accumulation = 1;
    std::optional<std::int64_t> global_batch;
    std::string no_sync = "on";
    std::string parameter_dtype = "bf16", gradient_dtype, reduce_dtype, compute_dtype = "bf16";
    std::string optimizer_state_dtype = "fp32", master_dtype = "fp32", optimizer = "adamw_fused";
    bool master_weights = false, gradient_as_bucket_view = true, window_mask = false;
    std::optional<int> fsdp_version;  // 2
    bool limit_all_gathers = true, use_orig_params = true;
    std::string offload, recompute;
    std::optional<std::int64_t> recompute_every;
    bool repeat_kv = false;
    std::string attention;  // empty: as the model's reference implementation has it
    double max_grad_norm = 0;
    std::optional<std::int64_t> loss_chunk;  // the runtime's own
    bool compile_loss = false, keep_logits = false, loss_outside = false, loss_upcast = true;
    std::string profile;
    std::string deepspeed_config;  // a file
    std::string deepspeed_version;
    DeepSpeedSettings deepspeed;   // what it says
    void add_to(CLI::App& command);
};

struct MoneyOptions {
    std::string price;  // "2.10 USD/GPU/h"
    double tokens_total = 0;
    void add_to(CLI::App& command);
};

struct OutputOptions {
    std::string format;
    bool quiet = false;
    void add_to(CLI::App& command, const std::string& more_formats = {});
};

}  // namespace wirewise
