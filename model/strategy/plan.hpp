// A plan: one complete choice of strategy, batch and precision for a model. A value; lowered to StepPrograms
// by lower().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/program/kernel.hpp"
#include "model/strategy/offload.hpp"
#include "model/units/dtype.hpp"

namespace wirewise {

enum class Strategy : std::uint8_t { single, ddp, zero1, zero2, fsdp, fsdp_shard_grad_op, hsdp };
enum class Runtime : std::uint8_t { native, pytorch, deepspeed };
// When DDP's first bucket, one gradient copy, goes back after the rebuild in the second step. NCCL's process
// group holds it until its watchdog, which looks every 100 ms, has seen the first all-reduce end and another
// collective is issued: before the new buckets, at the broadcast of module buffers after them, in the second
// backward, or, where a step is shorter than that period, after the second step.
enum class StaleBucket : std::uint8_t {
    freed_at_rebuild,
    freed_at_buffer_broadcast,
    freed_in_backward,
    freed_after_step
};
inline constexpr std::array kStaleBuckets{StaleBucket::freed_at_rebuild,
                                          StaleBucket::freed_at_buffer_broadcast,
                                          StaleBucket::freed_in_backward, StaleBucket::freed_after_step};
enum class Recompute : std::uint8_t { none, pointwise, selective, full };

std::string_view name_of(Strategy strategy);
std::string_view name_of(Runtime runtime);
std::string_view name_of(Recompute recompute);
std::optional<Strategy> strategy_from(std::string_view name);  // "zero3" is an alias of fsdp
std::optional<Runtime> runtime_from(std::string_view name);
std::optional<Recompute> recompute_from(std::string_view name);

// Ranks along each axis; world = product. The last four are 1 until those strategies exist.
struct Mesh {
    int replicate = 1, shard = 1, tensor = 1, pipeline = 1, context = 1, expert = 1;
    int world() const { return replicate * shard * tensor * pipeline * context * expert; }
    bool operator==(const Mesh&) const = default;
};

struct Precision {
    DType parameter = DType::bf16, gradient = DType::bf16, reduce = DType::bf16, compute = DType::bf16;
    DType optimizer_state = DType::fp32;
    bool master_weights = false;
    DType master =
        DType::fp32;  // their type; DeepSpeed can keep them, and the gradients it updates with, in bf16
    bool operator==(const Precision&) const = default;
};

// How a PyTorch training script computes its loss.
struct LossSettings {
    bool upcasts = true;        // the logits to fp32
    bool compiled = false;      // torch.compile around the loss
    bool keeps_logits = false;  // a variable of the script holds them through backward
    bool outside =
        false;  // the script computes it from the model's output; else the model does, as transformers
    bool operator==(const LossSettings&) const = default;
};

struct ParallelPlan {
    Strategy strategy = Strategy::single;
    Runtime runtime = Runtime::native;
    Mesh mesh;
    std::int64_t sequence_length = 4096, micro_batch = 1, gradient_accumulation = 1;
    Precision precision;
    OptimizerKind optimizer = OptimizerKind::adamw_fused;
    Recompute recompute = Recompute::pointwise;
    // PyTorch's selective recomputation: every so many layers, one is recomputed whole; 0: op by op in each
    // layer.
    std::int64_t recompute_every = 0;
    // Native: tokens of logits held at once. PyTorch: tokens per call of head and loss, all logits held. 0:
    // all.
    std::int64_t loss_chunk = 2048;
    LossSettings loss;
    bool gradient_as_bucket_view = true;
    // PyTorch's sharded strategies: 2: fully_shard; 1: FullyShardedDataParallel, with its rate limiter or
    // without, the optimizer on the weights' parts or on the flat parameters.
    int fsdp_version = 2;
    bool limit_all_gathers = true, use_orig_params = true;
    StaleBucket stale_bucket =
        StaleBucket::freed_at_buffer_broadcast;  // PyTorch's DDP and ZeRO-1, second step
    // PyTorch: transformers gives attention a mask tensor where the sequence is as long as a layer's sliding
    // window, though such a mask is the causal one. Off: only where it is longer.
    bool window_mask = false;
    double compute_capability =
        9.0;              // of the GPU (0: AMD), where it decides what a framework's libraries allocate
    bool no_sync = true;  // reduce gradients only in the last micro-batch of a step where the strategy can
    bool clip_gradients = false;
    bool compile = false;
    Offload offload;
    DeepSpeedSettings deepspeed;  // of the deepspeed runtime
    std::uint64_t seed = 1;

    bool recomputes_op_by_op() const { return recompute == Recompute::selective && recompute_every == 0; }
    std::int64_t tokens_per_micro_batch() const { return sequence_length * micro_batch; }
    bool operator==(const ParallelPlan&) const = default;
};

// What a strategy shards; the four switches from which every strategy is composed.
struct Sharding {
    bool parameters = false, gradients = false, optimizer = false;
    bool reshard_after_forward = false;  // parameters are gathered again for backward
};
Sharding sharding_of(Strategy strategy);

// The mesh of `ranks` GPUs for a strategy: DDP and ZeRO-1/2 keep parameters whole but shard over all ranks
// what they shard; HSDP shards within groups of `shard_group` and replicates across them. Throws InputError
// when it cannot divide.
Mesh mesh_for(Strategy strategy, int ranks, int shard_group);

}  // namespace wirewise
