// The mask that attention gets as a tensor, where it gets one.
#include <utility>

#include "model/strategy/pytorch/modules.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

using namespace eager;

// No fused kernel takes fp32 with fewer key than query heads.
AttentionForm Modules::attention_form(std::int32_t index) const {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const bool grouped = shape.heads != shape.kv_heads && !shape.latent;
    const bool wide = context_.plan().precision.compute == DType::fp32;
    return form().attention == AttentionForm::fused && grouped && wide ? AttentionForm::math
                                                                       : form().attention;
}

// A window that is shorter than the sequence is a mask; so is a causal one where is_causal is not used.
bool Modules::masked(std::int32_t index) const {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const std::int64_t least = context_.plan().window_mask ? shape.window : shape.window + 1;
    if (attention_form(index) == AttentionForm::fused_softmax) return false;  // its kernel knows the triangle
    return form().always_masked || attention_form(index) != AttentionForm::fused ||
           (shape.window > 0 && context_.plan().sequence_length >= least);
}

// Built once per forward from comparisons of positions: three boolean squares at a time, of which one stays.
void Modules::make_mask() {
    bool any = false;
    for (std::int32_t layer = 0; layer < context_.model().layer_count(); ++layer) any |= masked(layer);
    if (!any) return;
    const std::int64_t s = context_.plan().sequence_length;
    const auto square = [&](std::string_view name, const Tensor& from) {
        Tensor result = tape_.storages.empty(name, s, s, DType::int8);
        if (from.defined())
            tape_.compute(name, vector_kernel(s, s, 2 * result.bytes(), DType::int8),
                          {{from, Access::read}, {result, Access::write}});
        else
            tape_.compute(name, vector_kernel(s, s, result.bytes(), DType::int8), {{result, Access::write}});
        return result;
    };
    const Tensor window = square("positions in the window", {});
    const Tensor causal = square("positions before", {});
    mask_ = square("mask", causal);
    if (attention_form(0) == AttentionForm::fused && !form().mask_added_once) return;
    const DType type = context_.plan().precision.compute;
    Tensor added = tape_.storages.empty("additive mask", context_.plan().micro_batch * s, s, type);
    tape_.compute("additive mask", broadcast_kernel(added.rows, s, added.bytes(), type),
                  {{mask_, Access::read}, {added, Access::write}});
    mask_ = std::move(added);
}

}  // namespace wirewise
