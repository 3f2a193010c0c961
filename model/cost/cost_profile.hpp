// All physics of one GPU kind under one software stack: how long kernels take, what launching costs, what a
// running collective takes from compute, what a process holds outside its buffers. Every group of numbers has
// an origin. Strategies hold none of it. Loaded from calibration/profiles/*.json, or derived from the GPU's
// data sheet.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/cost/origin.hpp"
#include "model/cost/widths.hpp"
#include "model/topology/gpu.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

// Matrix products run in tiles, one per SM at a time:
//   time = fixed + waves x SMs x tile_m x tile_n x 2 (k + prologue) x (1 + small_tile_penalty x ...) / rate,
// waves = ceil(tiles / SMs), for the best of the tile shapes (see gemm_time.cpp).
struct GemmCosts {
    std::map<DType, FlopsPerSecond> rate;  // every SM at work, clock not held back by the power limit
    Seconds fixed;
    double small_tile_penalty = 0;
    double prologue = 0;  // start and end of a tile, in units of k
    double unaligned_factor =
        1;  // on the time where a row of an operand or result is no multiple of 16 bytes
};

// Useful flop/s of attention at head_dim 128, piecewise linear over log2(flops).
using RateCurve = std::vector<std::pair<double, FlopsPerSecond>>;
struct AttentionCosts {
    RateCurve forward, backward;
    double half_head_factor = 1;  // time factor at head_dim 64; linear in head_dim up to 1 at 128
    double in_step_factor = 1;    // in a step against alone
    double masked_factor = 1;     // on the time per flop where a mask tensor is read and added
};

// A kernel of our own: time = fixed + traffic / rate.
struct OwnKernelCosts {
    Seconds fixed;
    BytesPerSecond rate;
};
struct MemoryCosts {
    BytesPerSecond vector_rate, reduction_rate, gather_rate;
    double broadcast_elements_per_second = 0;
    Seconds fixed, minimum;
    Seconds gap;  // from one small kernel to the next on a stream
    // By the kind's name ("norm_backward"); kinds that are not here cost what their access class does.
    std::map<std::string, OwnKernelCosts, std::less<>> kernels;
};

// An update takes the longer of its traffic and its arithmetic.
struct OptimizerCosts {
    BytesPerSecond rate;
    double elements_per_second = 0;
    double in_step_factor = 1;
};

// The power limit holds the clock down when matrix products fill the step: their time is multiplied by
// min(limit, 1 + slope x max(0, share - knee)), share = (GEMM + attention time) / step time.
struct PowerCosts {
    double knee = 1, slope = 0, limit = 1;
};

// What a collective over one transport and compute take from each other, measured.
struct WireContention {
    double slowdown =
        0;  // matrix kernels beside it take this much longer, memory-bound ones vector_share of it
    double start_delay = 0;          // as below
    double collective_slowdown = 0;  // it takes this much longer beside compute
};

struct ContentionCosts {
    // A collective of c channels holds c SMs: matrix kernels slow down by SMs / (SMs - c), memory-bound ones
    // by this share of it.
    double vector_share = 0;
    // A collective that becomes ready while compute runs starts this many mean remaining kernel times later.
    double start_delay = 0;
    // A kernel on a side stream stops compute and runs at this rate itself.
    double side_kernel_rate = 1;
    // By transport ("shm"), in place of the channels' share and the delay above.
    std::map<std::string, WireContention, std::less<>> wires;
};

struct CopyCosts {
    BytesPerSecond device_to_host, host_to_device, device_to_device;
    Seconds fixed;
};

// A collective over the memory of one process, as the CPU backend runs it.
struct MemoryCollective {
    Seconds fixed;  // the ranks meet
    BytesPerSecond rate;
};

// What the CPU computes for one rank while all ranks of its server do the same: bound by memory. Of the
// machine, not of the GPU: see HostShare (model/topology/host_share.hpp); the default is a guess where no
// machine is known.
struct HostCosts {
    BytesPerSecond memory_rate{10e9};
};

// What the host spends to issue one op of each kind, and what the process holds on the device, under one
// runtime.
struct RuntimeCosts {
    Seconds kernel, collective, copy, event;
    Seconds hook, optimizer_loop, synchronize;        // HostWork, per count
    BytesPerSecond host_rate{1e15};                   // what the CPU's kernels of one process reach at most
    double run_ahead = 0;                             // ops that the host may be ahead of the GPU
    Bytes context_bytes;                              // context, libraries, kernels
    std::map<std::string, Bytes> communicator_bytes;  // by transport: "p2p", "shm", "net"
};

struct CostProfile {
    std::string name;       // "h200-sxm"
    std::string gpu;        // the GPU it describes
    bool measured = false;  // false: data sheet only
    int multiprocessors = 0;
    std::map<std::string, Origin> origins;  // by group: "gemm", "attention", ...
    std::map<std::string, Origin> terms;    // of single fitted numbers, by JSON pointer: "/gemm/fixed"

    GemmCosts gemm;
    AttentionCosts attention;
    MemoryCosts memory;
    OptimizerCosts optimizer;
    PowerCosts power;
    ContentionCosts contention;
    CopyCosts copy;
    HostCosts host;
    std::map<std::string, RuntimeCosts> runtimes;  // "native", "pytorch", "deepspeed"
    std::map<std::string, MemoryCollective>
        collectives;  // "all_reduce, 4 ranks"; of the CPU backend's profiles
    Widths widths;

    const RuntimeCosts& runtime(std::string_view runtime_name) const;
};

// Throws InputError naming file and JSON pointer.
CostProfile load_profile(const std::string& file);
// From data-sheet figures alone, with efficiencies that hold across GPU kinds.
CostProfile profile_from_data_sheet(const GpuModel& gpu);
// The shipped profile of that GPU (calibration/profiles/<name>.json, compiled in), else its data sheet's.
CostProfile profile_for(const GpuModel& gpu);

}  // namespace wirewise
