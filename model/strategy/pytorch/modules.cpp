#include "model/strategy/pytorch/modules.hpp"

#include <algorithm>
#include <utility>

#include "model/strategy/pytorch/linear_names.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

using namespace eager;

void Modules::clear_autocast_cache() {
    autocast_cache_.assign(context_.autocast() ? context_.weights.size() : 0, {});
}

// The rotary embedding's forward, without gradients: outer product in fp32, concatenated, cosine and sine,
// cast.
void Modules::begin_forward() {
    clear_autocast_cache();
    // Whether sequences are packed is computed from the positions and read back: masking_utils.py.
    tape_.storages.settle();
    context_.build().host_work(context_.compute, "read back: packed sequences?", {HostWorkKind::synchronize, 1});
    make_mask();
    if (context_.model().position != PositionKind::rotary) return;
    const std::int64_t s = context_.plan().sequence_length;
    std::int64_t width = 0;
    for (const Layer& kind : context_.model().kinds) width = std::max(width, kind.attention.rotary_dim);
    if (width == 0) return;
    Storages& storages = tape_.storages;
    Tensor half = storages.empty("rotary frequencies", s, width / 2, DType::fp32);
    tape_.compute("rotary frequencies", vector_kernel(s, width / 2, half.bytes(), DType::fp32),
                  {{half, Access::write}});
    const Tensor angles = concatenate(tape_, half, half);
    half = {};
    const auto map = [&](std::string_view name, const Tensor& from) {
        Tensor result = storages.empty(name, s, width, DType::fp32);
        tape_.compute(name, vector_kernel(s, width, 2 * result.bytes(), DType::fp32),
                      {{from, Access::read}, {result, Access::write}});
        return result;
    };
    const auto table = [&](std::string_view name) { return map("scale rotary table", map(name, angles)); };
    cosine_ = table("cosine");
    sine_ = table("sine");
    if (form().rotary == RotaryForm::fp32_tables) return;
    const DType type = context_.weight_type();
    cosine_ = cast(tape_, cosine_, type);
    sine_ = cast(tape_, sine_, type);
}

void Modules::end_forward() {
    cosine_ = {};
    sine_ = {};
    mask_ = {};
    autocast_cache_.clear();
}

// No fused kernel takes fp32 with fewer key than query heads.
AttentionForm Modules::attention_form(std::int32_t index) const {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const bool grouped = shape.heads != shape.kv_heads && !shape.latent;
    const bool wide = context_.plan().precision.compute == DType::fp32;
    return form().attention == AttentionForm::fused && grouped && wide ? AttentionForm::math : form().attention;
}

// A window that is shorter than the sequence is a mask; so is a causal one where is_causal is not used.
bool Modules::masked(std::int32_t index) const {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const std::int64_t least = context_.plan().window_mask ? shape.window : shape.window + 1;
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
    if (attention_form(0) == AttentionForm::fused) return;
    const DType type = context_.plan().precision.compute;
    Tensor added = tape_.storages.empty("additive mask", context_.plan().micro_batch * s, s, type);
    tape_.compute("additive mask", broadcast_kernel(added.rows, s, added.bytes(), type),
                  {{mask_, Access::read}, {added, Access::write}});
    mask_ = std::move(added);
}

Tensor Modules::weight(WeightId id) const {
    const Weight& w = context_.weights.at(id);
    return tape_.leaf(id, w.rows, w.columns, context_.weight_type());
}

std::optional<Tensor> Modules::find(Unit unit, ParameterUse use, int nth) const {
    const auto id = context_.weights.find(unit, use, nth);
    return id ? std::optional(weight(*id)) : std::nullopt;
}

std::optional<Tensor> Modules::find_bias(Unit unit, ParameterUse owner) const {
    const auto id = context_.weights.find_bias(unit, owner);
    return id ? std::optional(weight(*id)) : std::nullopt;
}

Tensor Modules::autocast_weight(WeightId id) {
    if (autocast_cache_.empty()) return weight(id);
    Tensor& cached = autocast_cache_[index_of(id)];
    if (!cached.defined()) cached = cast(tape_, weight(id), context_.plan().precision.compute);
    return cached;
}

Tensor Modules::project(Unit unit, ParameterUse use, const Tensor& x) {
    const auto id = context_.weights.find(unit, use);
    ensure(id.has_value(), "a projection has its weight");
    const auto bias_id = context_.weights.find_bias(unit, use);
    const Tensor w = autocast_weight(*id);
    const Tensor input = context_.autocast() ? cast(tape_, x, context_.plan().precision.compute) : x;
    if (!bias_id) return linear(tape_, input, w, nullptr, linear_names(use));
    const Tensor b = autocast_weight(*bias_id);
    return linear(tape_, input, w, &b, linear_names(use));
}

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

Tensor Modules::residual_dropout(const Tensor& x) {
    return context_.model().dropout.residual && tape_.gradients ? dropout(tape_, x) : x;
}

Tensor Modules::residual_scale(const Tensor& x) { return form().scaled_residual ? scale(tape_, x) : x; }

Tensor Modules::embed(const Tensor& ids) {
    Tensor x = embedding(tape_, *find({}, ParameterUse::embedding), ids);
    if (context_.weights.find({}, ParameterUse::embedding_projection))
        x = project({}, ParameterUse::embedding_projection, x);
    if (form().scaled_embedding) x = scale(tape_, x);
    if (const auto positions = find({}, ParameterUse::position_embedding))
        x = add(tape_, x, embedding(tape_, *positions, ids.as(context_.plan().sequence_length, 1)));
    if (const auto scale = find({}, ParameterUse::embedding_norm)) {
        const auto shift = find({}, ParameterUse::embedding_norm, 1);
        x = layer_norm(x, &*scale, shift ? &*shift : nullptr);
    }
    return context_.model().dropout.embedding && tape_.gradients ? dropout(tape_, x) : x;
}

Tensor Modules::last_norm(const Tensor& x) { return norm({}, x, 0); }

Tensor Modules::head(const Tensor& x) {
    const bool projects = context_.weights.find({}, ParameterUse::head_projection).has_value();
    const Tensor y = projects ? project({}, ParameterUse::head_projection, x) : x;
    const bool own = context_.weights.find({}, ParameterUse::head).has_value();
    Tensor logits = project({}, own ? ParameterUse::head : ParameterUse::embedding, y);
    if (form().scaled_logits) logits = scale(tape_, logits);
    if (form().capped_logits) {
        logits = scale(tape_, logits);
        logits = tangent(tape_, logits);
        logits = scale(tape_, logits);
    }
    return logits;
}

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

// Per head (Qwen 3), or over the full width (OLMo 2): the weight says which.
Tensor Modules::head_norm(const Tensor& x, std::int64_t head_dim, const Tensor& scale) {
    const bool per_head = scale.count() == head_dim;
    const Tensor rows =
        per_head && x.columns != head_dim ? reshape(tape_, x, x.count() / head_dim, head_dim) : x;
    return context_.model().norm == NormKind::rms ? rms_norm(rows, scale)
                                                  : layer_norm(rows, &scale, nullptr);
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
    return {heads_of(tape_, parts.first, shape.heads, false), heads_of(tape_, parts.second, shape.kv_heads, false),
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
    const bool repeats = masked(index) && shape.heads != shape.kv_heads;
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
    AttentionInputs inputs{std::move(heads.q), std::move(heads.k), std::move(heads.v),
                           masked(index) ? mask_ : Tensor(), shape.latent || joins_rotated(shape)};
    const AttentionForm how = attention_form(index);
    Tensor o = how == AttentionForm::fused ? eager::attention(tape_, inputs, kernel)
                                           : eager_attention(tape_, inputs, kernel, how);
    inputs = {};
    return project({index}, ParameterUse::attention_output, o);
}

Tensor Modules::activate(const Tensor& x, Activation kind) {
    switch (kind) {
        case Activation::relu:
            return rectified(tape_, x);
        case Activation::relu_squared:
            return power(tape_, rectified(tape_, x));
        default:
            return form().chained_activation ? chained_gelu(tape_, x, context_.autocast()) : activation(tape_, x);
    }
}

Tensor Modules::mlp(std::int32_t index, const Tensor& x, const MlpUses& uses) {
    const Unit unit{index};
    const MlpShape& shape = context_.model().layer(index).mlp;
    const auto hidden = [&]() -> Tensor {
        if (context_.weights.find(unit, uses.gate_up)) {
            const Tensor fused = project(unit, uses.gate_up, x);
            const Parts halves = split(tape_, fused, fused.columns / 2);
            return multiply(tape_, halves.second, activate(halves.first, shape.activation));
        }
        if (!shape.gated) return activate(project(unit, uses.up, x), shape.activation);
        const Tensor gate = activate(project(unit, uses.gate, x), shape.activation);
        return multiply(tape_, gate, project(unit, uses.up, x));
    };
    return project(unit, uses.down, hidden());
}

// Routed experts at their expected load: each token's row goes to top_k of them.
Tensor Modules::experts(std::int32_t index, const Tensor& x) {
    const Unit unit{index};
    const MlpShape& shape = context_.model().layer(index).mlp;
    const auto stacked = [&](ParameterUse use, const Tensor& y) {
        return expert_linear(tape_, y, *find(unit, use), shape.experts, linear_names(use));
    };
    const Tensor scores = softmax_of_rows(tape_, project(unit, ParameterUse::router, x), DType::fp32);
    const Tensor chosen = slice(tape_, scores, shape.top_k);
    const Tensor factors = cast(tape_, reshape(tape_, chosen, x.rows * shape.top_k, 1, true), x.type);
    const Tensor sent = scatter_rows(tape_, x, shape.top_k);
    Tensor product;
    if (context_.weights.find(unit, ParameterUse::expert_gate_up)) {
        const Tensor fused = stacked(ParameterUse::expert_gate_up, sent);
        const Parts halves = split(tape_, fused, fused.columns / 2);
        product = multiply(tape_, activate(halves.first, shape.activation), halves.second);
    } else if (shape.gated) {
        const Tensor gate = activate(stacked(ParameterUse::expert_gate, sent), shape.activation);
        product = multiply(tape_, gate, stacked(ParameterUse::expert_up, sent));
    } else {
        product = activate(stacked(ParameterUse::expert_up, sent), shape.activation);
    }
    const Tensor returned = multiply(tape_, stacked(ParameterUse::expert_down, product), factors);
    return gather_rows(tape_, returned, shape.top_k);
}

Tensor Modules::feed_forward(std::int32_t index, const Tensor& x) {
    using enum ParameterUse;
    const MlpShape& shape = context_.model().layer(index).mlp;
    if (!shape.routed()) return mlp(index, x, {gate, up, gate_up, down});
    const Tensor routed = experts(index, x);
    if (shape.shared_intermediate == 0) return routed;
    Tensor common = mlp(index, x, {shared_gate, shared_up, shared_gate_up, shared_down});
    if (context_.weights.find({index}, shared_router))
        common = multiply(tape_, common, activation(tape_, project({index}, shared_router, x)));
    return add(tape_, routed, common);
}

Tensor Modules::layer(std::int32_t index, const Tensor& x) {
    const Layer& kind = context_.model().layer(index);
    const Unit unit{index};
    int norms = 0;
    if (kind.parallel_block) {
        const Tensor y = norm(unit, x, norms++);
        const Tensor a = residual_dropout(attention(index, y));
        const bool second = context_.weights.find(unit, ParameterUse::norm, norms).has_value();
        const Tensor m = residual_dropout(feed_forward(index, second ? norm(unit, x, norms) : y));
        return add(tape_, add(tape_, a, m), x);
    }
    Tensor h = kind.pre_norms ? norm(unit, x, norms++) : x;
    h = residual_scale(residual_dropout(attention(index, h)));
    if (kind.post_norms) h = norm(unit, h, norms++);
    h = add(tape_, x, h);
    Tensor m = kind.pre_norms ? norm(unit, h, norms++) : h;
    m = residual_scale(residual_dropout(feed_forward(index, m)));
    if (kind.post_norms) m = norm(unit, m, norms++);
    return add(tape_, h, m);
}

}  // namespace wirewise
