// A profile for a GPU that was never measured: fractions of data-sheet figures that hold across GPUs of one
// generation, the rest scaled from the H200, the one GPU measured in full.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/cost/attention_library.hpp"
#include "model/cost/cost_profile.hpp"
#include "model/cost/profile_json.hpp"
#include "model/cost/runtime_costs.hpp"

namespace wirewise {
namespace {

// What a generation reaches of its dense peak with every SM at work and a cool clock.
struct Generation {
    double compute_capability;  // from this one up
    double gemm_fraction;
    double attention_fraction;  // of long causal attention, forward; backward takes 0.86 of it
    std::string_view source;
};

constexpr std::array<Generation, 8> kGenerations{{
    {0.0, 0.58, 0.32, "published: MI300X bf16 GEMM 600-700 TFLOP/s (SemiAnalysis, 2024-12)"},
    {1.0, 0.80, 0.20, "assumed: plain SIMT products, no fused attention"},
    {7.0, 0.80, 0.25, "published: V100 fp16 GEMM 90-100 TFLOP/s; no fused attention before CC 8.0"},
    {8.0, 0.87, 0.62, "published: A100 GEMM 240-270 TFLOP/s; FlashAttention-2 paper, 190-200 TFLOP/s"},
    {8.6, 0.75, 0.52, "published: RTX 3090 and A6000 GEMM at 65-75 % of dense peak"},
    {8.9, 0.80, 0.55, "published: RTX 4090 and L40S GEMM at 65-85 % of dense peak"},
    {9.0, 0.87, 0.64, "measured: H200, 2026-11-30"},
    {10.0, 0.80, 0.55, "published: B200 bf16 GEMM 1,500-1,750 TFLOP/s"},
}};

const Generation& generation_of(const GpuModel& gpu) {
    const Generation* best = kGenerations.data();
    for (const Generation& g : kGenerations)
        if (g.compute_capability <= gpu.compute_capability + 1e-6) best = &g;
    return *best;
}

// The H200 as the measure for what no data sheet says.
constexpr double kReferencePeak = 989e12;
constexpr int kReferenceMultiprocessors = 132;
constexpr double kReferencePowerKnee = 0.36, kReferencePowerSlope = 0.362;

GemmCosts gemm_costs(const GpuModel& gpu, const Generation& generation) {
    GemmCosts costs;
    for (const auto& [type, peak] : gpu.dense_peak) costs.rate[type] = peak * generation.gemm_fraction;
    for (const DType half : {DType::bf16, DType::fp16})  // a format without tensor cores runs as fp32
        if (!costs.rate.contains(half) && costs.rate.contains(DType::fp32))
            costs.rate[half] = costs.rate[DType::fp32];
    costs.fixed = 7_us;
    costs.small_tile_penalty = 0.074;
    costs.prologue = 169;
    return costs;
}

// Our own kernels on 2x H200 (wirewise bench, 2026-11-30; tests/gpu/results/h200-x2_2026-11-30_bench.jsonl):
// the share of the memory's rate, and what a short one takes.
struct OwnKernel {
    const char* kind;
    double share;
    Seconds fixed;
};
constexpr OwnKernel kOwnKernels[] = {
    {"activation_backward", 0.66, 6.3_us}, {"activation_forward", 0.71, 8.2_us},
    {"cross_entropy", 0.78, 10.7_us},      {"embedding_backward", 0.15, 17.1_us},
    {"embedding_forward", 0.80, 6.7_us},   {"fill_zero", 0.94, 4.6_us},
    {"head_norm_backward", 0.15, 13.3_us}, {"head_norm_forward", 0.27, 5.9_us},
    {"norm_backward", 0.51, 19.2_us},      {"norm_forward", 0.46, 5.9_us},
    {"norm_recompute", 0.63, 6.5_us},      {"rope_backward", 0.62, 6.5_us},
    {"rope_forward", 0.61, 6.4_us},        {"squared_norm", 0.74, 18.6_us},
};

MemoryCosts memory_costs(const GpuModel& gpu) {
    const BytesPerSecond peak = gpu.memory_bandwidth;
    const double multiprocessors = static_cast<double>(gpu.multiprocessors) / kReferenceMultiprocessors;
    MemoryCosts costs;
    costs.vector_rate = 0.835 * peak;
    costs.reduction_rate = 0.375 * peak;
    costs.gather_rate = 0.625 * peak;
    costs.broadcast_elements_per_second = 285e9 * multiprocessors;
    costs.fixed = 1_us;
    costs.minimum = 2_us;
    costs.gap = 1_us;
    for (const OwnKernel& own : kOwnKernels) costs.kernels[own.kind] = {own.fixed, own.share * peak};
    return costs;
}

OptimizerCosts optimizer_costs(const GpuModel& gpu) {
    return {0.72 * gpu.memory_bandwidth,
            192e9 * static_cast<double>(gpu.multiprocessors) / kReferenceMultiprocessors, 1.03};
}

// One way, after protocol overhead: 0.88 of the raw rate (measured on PCIe 5.0 x16: 55.4 of 63 GB/s).
CopyCosts copy_costs(const GpuModel& gpu) {
    const double lanes = std::max(gpu.pcie_width, 1) * std::exp2(std::max(gpu.pcie_generation, 3) - 3);
    const BytesPerSecond host = 0.88 * lanes * 0.985_GBps;
    return {host, host, 0.41 * gpu.memory_bandwidth, 5_us};
}

// The denser the tensor cores, the more of the power budget they draw: the slope follows flop/s per SM up to
// the H200's. It puts A100 products at 240-250 TFLOP/s in an endless loop, as published.
PowerCosts power_costs(const GpuModel& gpu) {
    const double per_multiprocessor = half_precision_peak(gpu).value() / gpu.multiprocessors;
    const double density = per_multiprocessor / (kReferencePeak / kReferenceMultiprocessors);
    const double slope = kReferencePowerSlope * std::min(1.0, density);
    return {kReferencePowerKnee, slope, 1 + slope * (1 - kReferencePowerKnee)};
}

}  // namespace

CostProfile profile_from_data_sheet(const GpuModel& gpu) {
    const Generation& generation = generation_of(gpu);
    CostProfile profile;
    profile.name = gpu.name + " (data sheet)";
    profile.gpu = gpu.name;
    profile.multiprocessors = gpu.multiprocessors;
    profile.gemm = gemm_costs(gpu, generation);
    profile.attention =
        attention_costs(gpu, generation.attention_fraction, 0.86 * generation.attention_fraction,
                        generation.compute_capability >= 9.0);
    profile.memory = memory_costs(gpu);
    profile.optimizer = optimizer_costs(gpu);
    profile.power = power_costs(gpu);
    profile.contention = {0.45, 2.08, 0.43, {}};
    profile.copy = copy_costs(gpu);
    profile.runtimes = default_runtimes();
    profile.widths = data_sheet_widths();
    const Origin scaled_from_h200{"data sheet, fractions measured on h200-sxm", "2026-11-30", 0, 0};
    for (const char* group : {"memory", "optimizer", "contention", "copy", "runtimes"})
        profile.origins[group] = scaled_from_h200;
    for (const char* group : {"gemm", "attention", "power"})
        profile.origins[group] = {"data sheet x fraction; " + std::string(generation.source), "2026-11-30", 0,
                                  0};
    return profile;
}

}  // namespace wirewise
