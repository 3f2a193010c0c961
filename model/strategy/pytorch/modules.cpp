#include "model/strategy/pytorch/modules.hpp"

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
    const std::int64_t width = context_.model().layer(0).attention.rotary_dim;
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
    if (const auto positions = find({}, ParameterUse::position_embedding))
        x = add(tape_, x, embedding(tape_, *positions, ids));
    return x;
}

Tensor Modules::last_norm(const Tensor& x) { return norm({}, x, 0); }

Tensor Modules::head(const Tensor& x) {
    const bool own = context_.weights.find({}, ParameterUse::head).has_value();
    return project({}, own ? ParameterUse::head : ParameterUse::embedding, x);
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

Tensor Modules::attention(std::int32_t index, const Tensor& x) {
    const AttentionShape& shape = context_.model().layer(index).attention;
    const Unit unit{index};
    const std::int64_t tokens = x.rows;
    const bool rotary = context_.model().position == PositionKind::rotary;
    // The gradient of a rotated tensor arrives head-major and is copied when it is reshaped to a matrix.
    const auto heads_of = [&](Tensor y, std::int64_t heads, bool copies) {
        return reshape(tape_, y, tokens * heads, y.columns / heads, copies);
    };
    Tensor q, k, v;
    if (context_.weights.find(unit, ParameterUse::query_key_value)) {
        const Tensor fused = project(unit, ParameterUse::query_key_value, x);
        q = heads_of(slice(tape_, fused, shape.query_width()), shape.heads, false);
        k = heads_of(slice(tape_, fused, shape.key_width()), shape.kv_heads, false);
        v = heads_of(slice(tape_, fused, shape.value_width()), shape.kv_heads, false);
    } else {
        q = heads_of(project(unit, ParameterUse::query, x), shape.heads, rotary);
        if (shape.head_norm) q = rms_norm(q, *find(unit, ParameterUse::head_norm, 0));
        k = heads_of(project(unit, ParameterUse::key, x), shape.kv_heads, rotary);
        if (shape.head_norm) k = rms_norm(k, *find(unit, ParameterUse::head_norm, 1));
        v = heads_of(project(unit, ParameterUse::value, x), shape.kv_heads, false);
    }
    Tensor turned_q = rotate(q, shape.rotary_dim);
    Tensor turned_k = rotate(k, shape.rotary_dim);
    q = std::move(turned_q);
    k = std::move(turned_k);
    if (context_.autocast()) {
        q = cast(tape_, q, context_.plan().precision.compute);
        k = cast(tape_, k, context_.plan().precision.compute);
    }
    Attention kernel;
    kernel.batch = context_.plan().micro_batch;
    kernel.sequence = context_.plan().sequence_length;
    kernel.heads = shape.heads;
    kernel.kv_heads = shape.kv_heads;
    kernel.head_dim = shape.head_dim;
    kernel.value_head_dim = shape.value_head_dim;
    kernel.type = v.type;
    const Tensor o = eager::attention(tape_, q, k, v, kernel);
    return project(unit, ParameterUse::attention_output, o);
}

Tensor Modules::mlp(std::int32_t index, const Tensor& x) {
    const Unit unit{index};
    const MlpShape& shape = context_.model().layer(index).mlp;
    const auto activate = [&](const Tensor& y) {
        const Tensor a = activation(tape_, y);
        return shape.activation == Activation::relu_squared ? square(tape_, a) : a;
    };
    const auto hidden = [&]() -> Tensor {
        if (context_.weights.find(unit, ParameterUse::gate_up)) {
            const Halves halves = chunk(tape_, project(unit, ParameterUse::gate_up, x));
            return multiply(tape_, halves.second, activate(halves.first));
        }
        if (!shape.gated) return activate(project(unit, ParameterUse::up, x));
        const Tensor gate = activate(project(unit, ParameterUse::gate, x));
        return multiply(tape_, gate, project(unit, ParameterUse::up, x));
    };
    return project(unit, ParameterUse::down, hidden());
}

Tensor Modules::layer(std::int32_t index, const Tensor& x) {
    const Layer& kind = context_.model().layer(index);
    const Unit unit{index};
    int norms = 0;
    const auto feed_forward = [&](const Tensor& y) { return mlp(index, y); };
    if (kind.parallel_block) {
        const Tensor y = norm(unit, x, norms++);
        const Tensor a = attention(index, y);
        const bool second = context_.weights.find(unit, ParameterUse::norm, norms).has_value();
        const Tensor m = feed_forward(second ? norm(unit, x, norms) : y);
        return add(tape_, add(tape_, a, m), x);
    }
    Tensor h = kind.pre_norms ? norm(unit, x, norms++) : x;
    h = attention(index, h);
    if (kind.post_norms) h = norm(unit, h, norms++);
    h = add(tape_, x, h);
    Tensor m = kind.pre_norms ? norm(unit, h, norms++) : h;
    m = feed_forward(m);
    if (kind.post_norms) m = norm(unit, m, norms++);
    return add(tape_, h, m);
}

}  // namespace wirewise
