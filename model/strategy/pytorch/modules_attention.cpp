// Projections to heads, rotations, attention.
#include <utility>

#include "model/strategy/pytorch/modules.hpp"

namespace wirewise {

using namespace eager;

Tensor Modules::rotate_all(const Tensor& x) {
    const Tensor straight = multiply(tape_, x, cosine_);
    const auto rotate_half = [&] {
        const Tensor first = slice(tape_, x, x.columns / 2);
        const Tensor second = slice(tape_, x, x.columns / 2);
        return concatenate(tape_, negative(tape_, second), first);
    };
    const Tensor crossed = multiply(tape_, rotate_half(), sine_);
    return add(tape_, straight, crossed);
}

// The whole head, or a part that is cut off and joined to the rest again.
bool Modules::joins_rotated(const AttentionShape& shape) const {
    if (context_.model().position != PositionKind::rotary || shape.rotary_dim == 0) return false;
    return shape.rotary_dim < shape.head_dim || form().rotary == RotaryForm::always_joined;
}

Tensor Modules::rotate(const Tensor& x, const AttentionShape& shape) {
    if (context_.model().position != PositionKind::rotary || shape.rotary_dim == 0) return x;
    if (!joins_rotated(shape)) return rotate_all(x);
    const Tensor turning = shape.rotary_dim == x.columns ? x : slice(tape_, x, shape.rotary_dim);
    const Tensor passing = slice(tape_, x, x.columns - shape.rotary_dim);
    return concatenate(tape_, rotate_all(turning), passing);
}

Attention Modules::attention_kernel(std::int32_t index, DType type) const {
    const AttentionShape& shape = context_.model().layer(index).attention;
    Attention kernel;
    kernel.batch = context_.plan().micro_batch;
    kernel.sequence = context_.plan().sequence_length;
    kernel.heads = shape.heads;
    kernel.kv_heads = shape.kv_heads;
    kernel.head_dim = shape.head_dim;
    kernel.value_head_dim = shape.value_head_dim;
    kernel.masked = masked(index);
    kernel.type = type;  // no window: sdpa computes the full causal square
    return kernel;
}

namespace {

// The gradient of a rotated tensor arrives head-major and is copied when it is reshaped to a matrix.
Tensor heads_of(Tape& tape, const Tensor& y, std::int64_t heads, bool copies) {
    return reshape(tape, y, y.count() / (y.columns / heads), y.columns / heads, copies);
}
}  // namespace

Modules::Heads Modules::fused_heads(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const bool rotates = context_.model().position == PositionKind::rotary && shape.rotary_dim > 0;
    const Tensor fused = project({index}, ParameterUse::query_key_value, x);
    if (form().fused_split == FusedSplit::slices)
        return {heads_of(tape_, slice(tape_, fused, shape.query_width()), shape.heads, rotates),
                heads_of(tape_, slice(tape_, fused, shape.key_width()), shape.kv_heads, rotates),
                heads_of(tape_, slice(tape_, fused, shape.value_width()), shape.kv_heads, false)};
    const bool copies = form().fused_split == FusedSplit::split_heads;
    const ThreeParts parts = split(tape_, fused, shape.query_width(), shape.key_width(), copies);
    return {heads_of(tape_, parts.first, shape.heads, false),
            heads_of(tape_, parts.second, shape.kv_heads, false),
            heads_of(tape_, parts.third, shape.kv_heads, false)};
}

Modules::Heads Modules::plain_heads(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const Unit unit{index};
    if (context_.weights.find(unit, ParameterUse::query_key_value)) return fused_heads(index, x);
    const bool rotates = context_.model().position == PositionKind::rotary && shape.rotary_dim > 0;
    const auto normed = [&](ParameterUse use, int nth, std::int64_t heads) {
        const auto scale = shape.head_norm ? find(unit, ParameterUse::head_norm, nth) : std::nullopt;
        const Tensor y = project(unit, use, x);
        if (!scale) return heads_of(tape_, y, heads, rotates);
        if (scale->count() != shape.head_dim)
            return heads_of(tape_, head_norm(y, shape.head_dim, *scale), heads, rotates);
        return head_norm(heads_of(tape_, y, heads, rotates), shape.head_dim, *scale);
    };
    // Repeated values are summed head-major.
    const bool repeats = (masked(index) || form().repeated_heads) && shape.heads != shape.kv_heads;
    Heads result;
    result.q = normed(ParameterUse::query, 0, shape.heads);
    if (form().scaled_query) result.q = scale(tape_, result.q);
    result.k = normed(ParameterUse::key, 1, shape.kv_heads);
    result.v = heads_of(tape_, project(unit, ParameterUse::value, x), shape.kv_heads, repeats);
    return result;
}

// DeepSeek's: q and k are a plain and a rotary part; k's rotary part is one head that all share.
Modules::Heads Modules::latent_heads(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const Unit unit{index};
    const std::int64_t plain = shape.head_dim - shape.rotary_dim;
    int norms = 0;
    const auto compressed_norm = [&](const Tensor& y) {
        return rms_norm(y, *find(unit, ParameterUse::head_norm, norms++));
    };
    Tensor q = context_.weights.find(unit, ParameterUse::query_down)
                   ? project(unit, ParameterUse::query_up,
                             compressed_norm(project(unit, ParameterUse::query_down, x)))
                   : project(unit, ParameterUse::query, x);
    q = reshape(tape_, q, x.rows * shape.heads, shape.head_dim, true);
    const Parts q_parts = split(tape_, q, plain);
    const Tensor compressed = project(unit, ParameterUse::kv_down, x);
    const Parts kv = split(tape_, compressed, compressed.columns - shape.rotary_dim);
    Tensor up = project(unit, ParameterUse::kv_up, compressed_norm(kv.first));
    up = reshape(tape_, up, x.rows * shape.heads, plain + shape.value_head_dim, true);
    const Parts k_and_v = split(tape_, up, plain);
    Heads result;
    result.q = concatenate(tape_, q_parts.first, rotate_all(q_parts.second));
    const Tensor shared = expand_rows(tape_, rotate_all(kv.second), shape.heads);
    result.k = concatenate(tape_, k_and_v.first, shared);
    result.v = k_and_v.second;
    return result;
}

void Modules::rotate_heads(Heads& heads, const AttentionShape& shape) {
    const DType type = heads.q.type;
    if (form().rotary == RotaryForm::fp32) {
        heads.q = cast(tape_, heads.q, DType::fp32);
        heads.k = cast(tape_, heads.k, DType::fp32);
    }
    Tensor turned_q = rotate(heads.q, shape);
    Tensor turned_k = rotate(heads.k, shape);
    heads.q = cast(tape_, turned_q, type);
    turned_q = {};
    heads.k = cast(tape_, turned_k, type);
}

Tensor Modules::attention(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    Heads heads = shape.latent ? latent_heads(index, x) : plain_heads(index, x);
    if (!shape.latent) rotate_heads(heads, shape);
    if (context_.autocast()) {
        heads.q = cast(tape_, heads.q, context_.plan().precision.compute);
        heads.k = cast(tape_, heads.k, context_.plan().precision.compute);
        heads.v = cast(tape_, heads.v, context_.plan().precision.compute);
    }
    const Attention kernel = attention_kernel(index, heads.v.type);
    AttentionInputs inputs{std::move(heads.q),    std::move(heads.k),
                           std::move(heads.v),    masked(index) ? mask_ : Tensor(),
                           form().repeated_heads, shape.latent || joins_rotated(shape)};
    const AttentionForm how = attention_form(index);
    Tensor o = how == AttentionForm::fused ? eager::attention(tape_, inputs, kernel)
                                           : eager_attention(tape_, inputs, kernel, how);
    inputs = {};
    return project({index}, ParameterUse::attention_output, o);
}

}  // namespace wirewise
