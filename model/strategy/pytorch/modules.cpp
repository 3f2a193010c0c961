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
    context_.build().host_work(context_.compute, "read back: packed sequences?",
                               {HostWorkKind::synchronize, 1});
    make_mask();
    if (context_.model().position != PositionKind::rotary) return;
    const std::int64_t s = context_.plan().sequence_length;
    std::int64_t width = 0;
    for (const Layer& kind : context_.model().kinds) width = std::max(width, kind.attention.rotary_dim);
    if (width == 0) return;
    Storages& storages = tape_.storages;
    Tensor half = storages.empty("rotary frequencies", s, width / 2, DType::fp32);
    storages.take_workspace(storages.use(half, Access::write).buffer);  // a product with the positions
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
