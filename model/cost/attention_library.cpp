#include "model/cost/attention_library.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace wirewise {

namespace {

constexpr std::array<std::string_view, 3> kNames{"flash", "flash2", "flash1"};
constexpr double kReferencePeak = 989e12;  // of the H200, on which the shapes below were measured

// Rates relative to long sequences, over log2(flops) of the H200; a GPU of half the peak gets there with half
// the work.
constexpr std::array<std::pair<double, double>, 6> kForwardShape{
    {{33, 0.28}, {35, 0.675}, {37, 0.82}, {39, 0.95}, {41, 1.0}, {43, 1.0}}};
constexpr std::array<std::pair<double, double>, 6> kBackwardShape{
    {{34.3, 0.30}, {36.3, 0.58}, {38.3, 0.80}, {40.3, 0.94}, {42.3, 1.0}, {44.3, 1.0}}};

RateCurve scaled(const std::array<std::pair<double, double>, 6>& shape, FlopsPerSecond peak, double top) {
    const double shift = std::log2(peak.value() / kReferencePeak);
    RateCurve curve;
    for (const auto& [log_flops, relative] : shape)
        curve.emplace_back(log_flops + shift, peak * (top * relative));
    return curve;
}

// From this compute capability up.
struct Reached {
    AttentionLibrary library;
    double compute_capability, forward, backward;
    std::string_view source;
};
constexpr Reached kFlash2OnAmpere{
    AttentionLibrary::flash2, 8.0, 0.62, 0.53,
    "published: FlashAttention-2 paper, A100, 50-73 % forward, up to 63 % backward"};
constexpr Reached kFlash1OnAmpere{
    AttentionLibrary::flash1, 8.0, 0.40, 0.30,
    "published: FlashAttention-2 paper on the first, A100, 30-50 % forward and 25-35 % backward: their "
    "middles"};
constexpr std::array<Reached, 6> kReached{{
    kFlash2OnAmpere,
    {AttentionLibrary::flash2, 9.0, 0.36, 0.33,
     "published: FlashAttention-2 paper, up to 335 TFLOP/s on H100 without its instructions; "
     "FlashAttention-3 paper, 35 %"},
    {AttentionLibrary::flash2, 10.0, 0.16, 0.145, "assumed: H100's rates, the newer instructions unused"},
    kFlash1OnAmpere,
    {AttentionLibrary::flash1, 9.0, 0.23, 0.19,
     "FlashAttention 2 on H100 x the first against the second on A100"},
    {AttentionLibrary::flash1, 10.0, 0.10, 0.08, "assumed: H100's rates, the newer instructions unused"},
}};

const Reached* reached_by(AttentionLibrary library, const GpuModel& gpu) {
    const Reached* best = nullptr;
    for (const Reached& one : kReached)
        if (one.library == library && one.compute_capability <= gpu.compute_capability + 1e-6) best = &one;
    return best;
}

}  // namespace

std::optional<AttentionLibrary> attention_library_from(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<AttentionLibrary>(i);
    return std::nullopt;
}

std::string_view name_of(AttentionLibrary library) { return kNames[static_cast<std::size_t>(library)]; }

FlopsPerSecond half_precision_peak(const GpuModel& gpu) {
    for (const DType type : {DType::bf16, DType::fp16, DType::fp32})
        if (const auto found = gpu.dense_peak.find(type); found != gpu.dense_peak.end()) return found->second;
    throw InputError("GPU " + gpu.name, "the catalogue gives no dense peak", "add dense_peak to its row");
}

// With a mask tensor PyTorch takes other kernels. On Ampere the memory-efficient ones (xformers' CUTLASS),
// which are as fast as the first FlashAttention, half of the second (FlashAttention-2 paper, section 4.1):
// the paper's rates above, forward once and backward, 2.5 times the work, together. On Hopper, measured:
// H200, 11 steps of 2026-11-30.
constexpr double kMaskedOnHopper = 1.47;
constexpr double time_of(const Reached& rates) { return 1 / rates.forward + 2.5 / rates.backward; }
constexpr double kMaskedBefore = time_of(kFlash1OnAmpere) / time_of(kFlash2OnAmpere);

// At head size 64 the exponentials take twice their share: 1.4 measured with cuDNN's kernels for Hopper
// (H200, 2026-11-30); kernels of Ampere's instructions lose less, 187 against 203 TFLOP/s (FlashAttention-2
// paper, A100).
AttentionCosts attention_costs(const GpuModel& gpu, double forward, double backward, bool hopper_kernels) {
    const FlopsPerSecond peak = half_precision_peak(gpu);
    AttentionCosts costs;
    costs.forward = scaled(kForwardShape, peak, forward);
    costs.backward = scaled(kBackwardShape, peak, backward);
    costs.half_head_factor = hopper_kernels ? 1.4 : 1.1;
    costs.masked_factor = hopper_kernels ? kMaskedOnHopper : kMaskedBefore;
    costs.in_step_factor = 1.045;
    return costs;
}

CostProfile with_attention(CostProfile profile, const GpuModel& gpu, AttentionLibrary library) {
    if (library == AttentionLibrary::newest) return profile;
    const Reached* reached = reached_by(library, gpu);
    if (!reached)
        throw InputError("--attention", std::string(name_of(library)) + " does not run on " + gpu.name,
                         "leave it out: FlashAttention needs compute capability 8.0");
    profile.attention = attention_costs(gpu, reached->forward, reached->backward, false);
    if (library == AttentionLibrary::flash1) profile.attention.masked_factor = 1;  // as slow already
    profile.origins["attention"] = {std::string(reached->source), "2026-11-30", 0, 0};
    return profile;
}

}  // namespace wirewise
