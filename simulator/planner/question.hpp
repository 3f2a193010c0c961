// What is asked of the planner, and what it answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/collectives/samples.hpp"
#include "model/memory/states.hpp"
#include "simulator/planner/estimate.hpp"
#include "simulator/planner/interval.hpp"

namespace wirewise {

struct Question {
    Transformer model;
    Machine machine;
    NcclEnvironment environment;
    CostProfile profile;
    CollectiveSamples samples;         // measured collectives, used where they were taken on such wires
    std::vector<int> gpus;             // in rank order, all nodes; never empty
    std::vector<Strategy> strategies;  // in the order of the answer
    int shard_group = 1;               // of hsdp
    std::optional<std::int64_t> global_batch;  // sequences of a step on all GPUs
    ParallelPlan
        plan;  // batch, precision, runtime: the same for all; strategy and mesh are set per candidate
    std::function<void(std::size_t done, std::size_t total, std::string_view now)> progress;
};

enum class Fit : std::uint8_t {
    yes,
    tight,
    no
};  // yes: at the pessimistic end of the interval; no: expected above the limit, with nothing cached
std::string_view name_of(Fit fit);

struct Throughput {
    double tokens_per_second = 0, tokens_per_second_per_gpu = 0;
    double mfu = 0, hfu = 0;
    FlopsPerSecond peak;  // dense, of the compute dtype, one GPU
    double model_flops_per_token = 0;
    double speedup_over_single =
        0;  // against one GPU with the same batch per GPU, even if that would not fit
};

// A change of one option that makes the plan smaller, planned for real.
struct Remedy {
    std::string option;  // ready to paste: "--recompute full"
    Bytes peak;
    Seconds step;
    Fit fits{};
    Bytes host_peak;
};

// The buffer whose allocation first exceeds the limit.
struct Overflow {
    std::string buffer;  // "layer 12 / gate_up, 0.47 GB of bf16"
    std::string at;      // phase and op
    Bytes short_by;      // device use above the limit
};

struct PlanCandidate {
    ParallelPlan plan;
    std::vector<int> gpus;
    Estimate estimate;
    States states;
    Bytes limit;
    Intervals intervals;
    Fit fits = Fit::no;
    double oom_probability = 0;
    Throughput throughput;
    std::string bottleneck;
    std::optional<Overflow> overflow;
    std::vector<Remedy> remedies;
    std::vector<std::string> odd;  // against its neighbours, where they need less: see neighbours.hpp
};

struct Baseline {  // the same batch on one GPU
    double tokens_per_second = 0;
    Fit fits = Fit::no;
    Bytes peak;
};

struct Answer {
    std::vector<PlanCandidate> candidates;
    Baseline single;
    std::optional<std::size_t> recommended;
    std::string why;
};

// Plans every strategy of the question.
Answer answer(const Question& question);

}  // namespace wirewise
