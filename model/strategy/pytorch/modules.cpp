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
    const DType type = context_.weight_type();
    cosine_ = cast(tape_, cosine_, type);
    sine_ = cast(tape_, sine_, type);
}

void Modules::end_forward() {
    cosine_ = {};
    sine_ = {};
    autocast_cache_.clear();
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
    const Tensor variance = mean_of_rows(tape_, square(tape_, y));
    y = multiply(tape_, y, reciprocal_square_root(tape_, add_scalar(tape_, variance)));
    return multiply(tape_, scale, cast(tape_, y, x.type));
}

Tensor Modules::norm(Unit unit, const Tensor& x, int nth) {
    const auto scale = find(unit, ParameterUse::norm, nth);
    if (context_.model().norm == NormKind::rms && scale) return rms_norm(x, *scale);
    const auto bias = find(unit, ParameterUse::norm_bias, nth);
    return layer_norm(tape_, x, scale ? &*scale : nullptr, bias ? &*bias : nullptr);
}

Tensor Modules::embed(const Tensor& ids) {
    Tensor x = embedding(tape_, *find({}, ParameterUse::embedding), ids);
    if (context_.weights.find({}, ParameterUse::embedding_projection))
        x = project({}, ParameterUse::embedding_projection, x);
    if (const auto positions = find({}, ParameterUse::position_embedding))
        x = add(tape_, x, embedding(tape_, *positions, ids));
    if (const auto scale = find({}, ParameterUse::embedding_norm)) {
        const auto shift = find({}, ParameterUse::embedding_norm, 1);
        x = layer_norm(tape_, x, &*scale, shift ? &*shift : nullptr);
    }
    return x;
}

Tensor Modules::last_norm(const Tensor& x) { return norm({}, x, 0); }

Tensor Modules::head(const Tensor& x) {
    const bool projects = context_.weights.find({}, ParameterUse::head_projection).has_value();
    const Tensor y = projects ? project({}, ParameterUse::head_projection, x) : x;
    const bool own = context_.weights.find({}, ParameterUse::head).has_value();
    return project({}, own ? ParameterUse::head : ParameterUse::embedding, y);
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

Tensor Modules::rotate(const Tensor& x, std::int64_t rotary) {
    if (context_.model().position != PositionKind::rotary || rotary == 0) return x;
    if (rotary == x.columns) return rotate_all(x);
    const Tensor turning = slice(tape_, x, rotary);
    const Tensor passing = slice(tape_, x, x.columns - rotary);
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
    kernel.type = type;  // no window: sdpa computes the full causal square
    return kernel;
}

// Per head (Qwen 3), or over the full width (OLMo 2): the weight says which.
Tensor Modules::head_norm(const Tensor& x, std::int64_t head_dim, const Tensor& scale) {
    const bool per_head = scale.count() == head_dim;
    const Tensor rows =
        per_head && x.columns != head_dim ? reshape(tape_, x, x.count() / head_dim, head_dim) : x;
    return context_.model().norm == NormKind::rms ? rms_norm(rows, scale)
                                                  : layer_norm(tape_, rows, &scale, nullptr);
}

Modules::Heads Modules::plain_heads(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const Unit unit{index};
    const bool rotates = context_.model().position == PositionKind::rotary && shape.rotary_dim > 0;
    // The gradient of a rotated tensor arrives head-major and is copied when it is reshaped to a matrix.
    const auto heads_of = [&](const Tensor& y, std::int64_t heads, bool copies) {
        return reshape(tape_, y, y.count() / (y.columns / heads), y.columns / heads, copies);
    };
    Heads result;
    if (context_.weights.find(unit, ParameterUse::query_key_value)) {
        const Tensor fused = project(unit, ParameterUse::query_key_value, x);
        result.q = heads_of(slice(tape_, fused, shape.query_width()), shape.heads, false);
        result.k = heads_of(slice(tape_, fused, shape.key_width()), shape.kv_heads, false);
        result.v = heads_of(slice(tape_, fused, shape.value_width()), shape.kv_heads, false);
        return result;
    }
    const auto normed = [&](ParameterUse use, int nth, std::int64_t heads) {
        const auto scale = shape.head_norm ? find(unit, ParameterUse::head_norm, nth) : std::nullopt;
        const Tensor y = project(unit, use, x);
        if (!scale) return heads_of(y, heads, rotates);
        if (scale->count() != shape.head_dim)
            return heads_of(head_norm(y, shape.head_dim, *scale), heads, rotates);
        return head_norm(heads_of(y, heads, rotates), shape.head_dim, *scale);
    };
    result.q = normed(ParameterUse::query, 0, shape.heads);
    result.k = normed(ParameterUse::key, 1, shape.kv_heads);
    result.v = heads_of(project(unit, ParameterUse::value, x), shape.kv_heads, false);
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

Tensor Modules::attention(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    Heads heads = shape.latent ? latent_heads(index, x) : plain_heads(index, x);
    if (!shape.latent) {
        Tensor turned_q = rotate(heads.q, shape.rotary_dim);
        Tensor turned_k = rotate(heads.k, shape.rotary_dim);
        heads.q = std::move(turned_q);
        heads.k = std::move(turned_k);
    }
    if (context_.autocast()) {
        heads.q = cast(tape_, heads.q, context_.plan().precision.compute);
        heads.k = cast(tape_, heads.k, context_.plan().precision.compute);
        heads.v = cast(tape_, heads.v, context_.plan().precision.compute);
    }
    const Tensor o =
        eager::attention(tape_, heads.q, heads.k, heads.v, attention_kernel(index, heads.v.type));
    return project({index}, ParameterUse::attention_output, o);
}

Tensor Modules::activate(const Tensor& x, Activation kind) {
    const Tensor y = activation(tape_, x);
    return kind == Activation::relu_squared ? square(tape_, y) : y;
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
        const Tensor a = attention(index, y);
        const bool second = context_.weights.find(unit, ParameterUse::norm, norms).has_value();
        const Tensor m = feed_forward(index, second ? norm(unit, x, norms) : y);
        return add(tape_, add(tape_, a, m), x);
    }
    Tensor h = kind.pre_norms ? norm(unit, x, norms++) : x;
    h = attention(index, h);
    if (kind.post_norms) h = norm(unit, h, norms++);
    h = add(tape_, x, h);
    Tensor m = kind.pre_norms ? norm(unit, h, norms++) : h;
    m = feed_forward(index, m);
    if (kind.post_norms) m = norm(unit, m, norms++);
    return add(tape_, h, m);
}

}  // namespace wirewise
