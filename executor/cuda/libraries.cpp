#include "executor/cuda/libraries.hpp"

#include "executor/cuda/kernels/elementwise.hpp"

namespace wirewise::cuda {

namespace {

constexpr double kShortestTuned = 2e9;  // FLOPs: some microseconds, no longer than what a timing strays

std::vector<std::uintptr_t> traits_of(const GemmOperands& operands) {
    constexpr std::uintptr_t kAlignments = 256;
    std::vector<std::uintptr_t> traits;
    for (const Array& array :
         {operands.left, operands.right, operands.bias, operands.addend, operands.result}) {
        const auto address = reinterpret_cast<std::uintptr_t>(array.data);
        traits.push_back(static_cast<std::uintptr_t>(array.type));
        traits.push_back(array ? address % kAlignments : kAlignments);
    }
    return traits;
}

}  // namespace

std::shared_ptr<const GemmPlan> Libraries::gemm(const Gemm& gemm, const GemmOperands& operands) {
    const std::vector<std::uintptr_t> traits = traits_of(operands);
    for (const KnownGemm& known : gemms_)
        if (known.gemm == gemm && known.traits == traits) return known.plan;
    std::shared_ptr<GemmPlan> plan;
    if (auto made = GemmPlan::make(lt_.get(), gemm, operands))
        plan = std::make_shared<GemmPlan>(std::move(*made));
    gemms_.push_back({gemm, traits, operands, plan});
    return plan;
}

std::shared_ptr<DnnAttention> Libraries::attention(const Attention& shape, AttentionStrides strides) {
    for (const KnownAttention& known : attentions_)
        if (known.shape == shape && known.strides == strides) return known.plan;
    std::shared_ptr<DnnAttention> plan;
    if (auto made = DnnAttention::make(dnn_.get(), shape, strides))
        plan = std::make_shared<DnnAttention>(std::move(*made));
    attentions_.push_back({shape, strides, plan});
    return plan;
}

void Libraries::tune(void* workspace, cudaStream_t stream) {
    for (const KnownGemm& known : gemms_) {
        const Gemm& gemm = known.gemm;
        if (!known.plan || flops_of(gemm).value() < kShortestTuned) continue;
        fill_normal(known.operands.left, gemm.m * gemm.k, 1, 1, 0, stream);
        fill_normal(known.operands.right, gemm.n * gemm.k, 1, 2, 0, stream);
        known.plan->tune(known.operands, workspace, stream);
    }
}

}  // namespace wirewise::cuda
