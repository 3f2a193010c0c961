#include "model/cost/kernel_time.hpp"

#include <algorithm>
#include <cmath>

#include "model/program/program.hpp"

namespace wirewise {
namespace {

// Linear between points, constant beyond the ends.
FlopsPerSecond rate_at(double log_flops, const RateCurve& curve) {
    ensure(!curve.empty(), "an attention curve has points");
    if (log_flops <= curve.front().first) return curve.front().second;
    for (std::size_t i = 1; i < curve.size(); ++i) {
        const auto& [x0, y0] = curve[i - 1];
        const auto& [x1, y1] = curve[i];
        if (log_flops <= x1) return y0 + (log_flops - x0) / (x1 - x0) * (y1 - y0);
    }
    return curve.back().second;
}

// Heads narrower than the tile of the kernel (64) cost as much as 64.
double head_factor(std::int64_t head_dim, const AttentionCosts& costs) {
    constexpr double kHalf = 64, kFull = 128;
    const double width = static_cast<double>(head_dim);
    if (width >= kFull) return 1;
    if (width >= kHalf) return 1 + (costs.half_head_factor - 1) * (kFull - width) / (kFull - kHalf);
    return costs.half_head_factor * kHalf / width;
}

// The curves are those of 16-bit formats on tensor cores; other formats follow the rate of their matrix
// products.
double format_factor(DType type, const GemmCosts& gemm) {
    const auto rate = [&](DType t) {
        const auto found = gemm.rate.find(t);
        return found == gemm.rate.end() ? FlopsPerSecond(0) : found->second;
    };
    const FlopsPerSecond best = std::max(rate(DType::bf16), rate(DType::fp16)), own = rate(type);
    return own.value() > 0 ? best / own : 1;
}

// Rows of 16 bytes are what the fast kernels load: a vocabulary such as 50257 keeps its products off them.
bool is_aligned(const Gemm& gemm) {
    constexpr std::int64_t kBytes = 16;
    const auto fits = [](std::int64_t elements, DType type) {
        return elements * size_of(type) % kBytes == 0;
    };
    switch (gemm.layout) {  // rows of what is stored: activations and weights over features
        case GemmLayout::forward:
        case GemmLayout::data_gradient:
            return fits(gemm.k, gemm.type) && fits(gemm.n, gemm.result);
        case GemmLayout::weight_gradient:
            return fits(gemm.m, gemm.type) && fits(gemm.n, gemm.result);
    }
    return true;
}

Seconds streaming_time(const Pointwise& kernel, const MemoryCosts& costs) {
    switch (kernel.access) {
        case AccessClass::vector:
            return kernel.traffic / costs.vector_rate;
        case AccessClass::broadcast: {
            const double elements = static_cast<double>(kernel.rows) * static_cast<double>(kernel.columns);
            return std::max(kernel.traffic / costs.vector_rate,
                            Seconds(elements / costs.broadcast_elements_per_second));
        }
        case AccessClass::reduction:
            return kernel.traffic / costs.reduction_rate;
        case AccessClass::gather:
            return kernel.traffic / costs.gather_rate;
    }
    return Seconds(0);
}

}  // namespace

Seconds attention_time(const Attention& attention, const CostProfile& profile) {
    const Flops work = flops_of(attention);
    if (work.value() <= 0) return Seconds(0);
    const RateCurve& curve = attention.backward ? profile.attention.backward : profile.attention.forward;
    const double factor =
        head_factor(std::max(attention.head_dim, attention.value_head_dim), profile.attention) *
        format_factor(attention.type, profile.gemm) *
        (attention.masked ? profile.attention.masked_factor : 1);
    return work / rate_at(std::log2(work.value()), curve) * factor;
}

Seconds pointwise_time(const Pointwise& kernel, const MemoryCosts& costs) {
    if (const auto own = costs.kernels.find(name_of(kernel.kind)); own != costs.kernels.end())
        return own->second.fixed + kernel.traffic / own->second.rate;
    return std::max(costs.fixed + streaming_time(kernel, costs), costs.minimum) + costs.gap;
}

Seconds update_time(const OptimizerUpdate& update, const OptimizerCosts& costs) {
    const Seconds arithmetic(static_cast<double>(update.count) / costs.elements_per_second);
    return std::max(update.traffic / costs.rate, arithmetic);
}

Seconds kernel_time(const Kernel& kernel, const CostProfile& profile) {
    const auto aligned_time = [&](const Gemm& k) {
        return gemm_time(k, profile) * (is_aligned(k) ? 1 : profile.gemm.unaligned_factor);
    };
    return std::visit(Overloaded{[&](const Gemm& k) { return aligned_time(k); },
                                 [&](const Attention& k) { return attention_time(k, profile); },
                                 [&](const Pointwise& k) { return pointwise_time(k, profile.memory); },
                                 [&](const OptimizerUpdate& k) { return update_time(k, profile.optimizer); }},
                      kernel);
}

Seconds copy_time(const Copy& copy, const CopyCosts& costs) {
    const BytesPerSecond rate = copy.to == MemorySpace::host     ? costs.device_to_host
                                : copy.from == MemorySpace::host ? costs.host_to_device
                                                                 : costs.device_to_device;
    return costs.fixed + copy.bytes / rate;
}

Seconds host_kernel_time(const Kernel& kernel, const HostCosts& costs) {
    ensure(costs.memory_rate.value() > 0, "a host that computes has a memory rate");
    const auto traffic = Overloaded{[](const OptimizerUpdate& update) { return update.traffic; },
                                    [](const Pointwise& pointwise) { return pointwise.traffic; },
                                    [](const auto&) { return Bytes(0); }};
    return std::visit(traffic, kernel) / costs.memory_rate;
}

double power_factor(double share, const PowerCosts& costs) {
    return std::min(costs.limit, 1 + costs.slope * std::max(0.0, share - costs.knee));
}

}  // namespace wirewise
