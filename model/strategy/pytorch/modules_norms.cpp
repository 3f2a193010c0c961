// Norms, by form: see NormForm.
#include "model/strategy/pytorch/modules.hpp"

namespace wirewise {

using namespace eager;

Tensor Modules::rms_norm(const Tensor& x, const Tensor& scale) {
    Tensor y = cast(tape_, x, DType::fp32);
    const Tensor variance = mean_of_rows(tape_, power(tape_, y));
    y = multiply(tape_, y, reciprocal_square_root(tape_, add_scalar(tape_, variance)));
    switch (form().norm) {
        case NormForm::scaled_in_fp32:
            return cast(tape_, multiply(tape_, scale, y), x.type);
        case NormForm::shifted_scale: {
            const Tensor shifted = add_scalar(tape_, cast(tape_, scale, DType::fp32));
            return cast(tape_, multiply(tape_, y, shifted), x.type);
        }
        default:
            return multiply(tape_, scale, cast(tape_, y, x.type));
    }
}

// The mean is taken off twice: once for the variance.
Tensor Modules::chained_layer_norm(const Tensor& x, const Tensor& scale) {
    Tensor y = cast(tape_, x, DType::fp32);
    const Tensor mean = mean_of_rows(tape_, y);
    const Tensor variance = mean_of_rows(tape_, power(tape_, add(tape_, y, mean)));
    y = multiply(tape_, add(tape_, y, mean), reciprocal_square_root(tape_, add_scalar(tape_, variance)));
    return cast(tape_, multiply(tape_, cast(tape_, scale, DType::fp32), y), x.type);
}

Tensor Modules::layer_norm(const Tensor& x, const Tensor* scale, const Tensor* shift) {
    if (form().norm == NormForm::chained_fp32 && scale) return chained_layer_norm(x, *scale);
    if (form().norm != NormForm::fused_fp32) return eager::layer_norm(tape_, x, scale, shift);
    return cast(tape_, eager::layer_norm(tape_, cast(tape_, x, DType::fp32), scale, shift), x.type);
}

Tensor Modules::norm(Unit unit, const Tensor& x, int nth) {
    const auto scale = find(unit, ParameterUse::norm, nth);
    if (context_.model().norm == NormKind::rms && scale) return rms_norm(x, *scale);
    const auto bias = find(unit, ParameterUse::norm_bias, nth);
    return layer_norm(x, scale ? &*scale : nullptr, bias ? &*bias : nullptr);
}

// Per head (Qwen 3), or over the full width (OLMo 2): the weight says which.
Tensor Modules::head_norm(const Tensor& x, std::int64_t head_dim, const Tensor& scale) {
    const bool per_head = scale.count() == head_dim;
    const Tensor rows =
        per_head && x.columns != head_dim ? reshape(tape_, x, x.count() / head_dim, head_dim) : x;
    return context_.model().norm == NormKind::rms ? rms_norm(rows, scale) : layer_norm(rows, &scale, nullptr);
}

}  // namespace wirewise
