#include "model/strategy/pytorch/compiled.hpp"

#include <array>
#include <utility>

#include "model/strategy/pytorch/linear_names.hpp"
#include "model/strategy/pytorch/ops_detail.hpp"

namespace wirewise {

using namespace eager;

bool CompiledLayers::handles(std::int32_t index) const {
    if (!context_.plan().compile || context_.autocast()) return false;
    const Layer& kind = context_.model().layer(index);
    const bool plain = kind.pre_norms && !kind.post_norms && !kind.parallel_block && !kind.mlp.routed();
    const bool split = context_.weights.find({index}, ParameterUse::query) &&
                       !context_.weights.find({index}, ParameterUse::gate_up);
    const bool fused = context_.model().form.attention == AttentionForm::fused;
    return plain && split && fused && !kind.attention.latent && context_.model().norm == NormKind::rms;
}

Tensor CompiledLayers::fused(std::string_view name, std::initializer_list<const Tensor*> reads,
                             std::int64_t rows, std::int64_t columns, const Tensor* row_factor) {
    Tensor result = tape_.storages.empty(name, rows, columns, context_.plan().precision.compute);
    Bytes traffic = result.bytes();
    std::array<Use, 10> uses;
    std::size_t count = 0;
    for (const Tensor* read : reads) {
        traffic += read->bytes();
        uses.at(count++) = tape_.storages.use(*read, Access::read);
    }
    uses.at(count++) = tape_.storages.use(result, Access::write);
    if (row_factor) uses.at(count++) = tape_.storages.use(*row_factor, Access::write);
    tape_.storages.compute(name, vector_kernel(rows, columns, traffic, result.type),
                           std::span<const Use>(uses.data(), count));
    return result;
}

Tensor CompiledLayers::projection(const Saved& saved, ParameterUse use, const Tensor& x) {
    const auto bias = modules_.find_bias({saved.index}, use);
    return matmul(tape_, x, *weight_of(saved, use), bias ? &*bias : nullptr, linear_names(use));
}

void CompiledLayers::first_norm(Saved& saved) {
    saved.rstd1 = tape_.storages.empty("rstd", saved.x.rows, 1, DType::fp32);
    saved.norm1 = fused("fused norm", {&saved.x}, saved.x.rows, saved.x.columns, &saved.rstd1);
}

void CompiledLayers::heads(Saved& saved) {
    if (!saved.q_raw.defined()) saved.q_raw = projection(saved, ParameterUse::query, saved.norm1);
    if (!saved.k_raw.defined()) saved.k_raw = projection(saved, ParameterUse::key, saved.norm1);
    if (!saved.v_raw.defined()) saved.v_raw = projection(saved, ParameterUse::value, saved.norm1);
    const std::int64_t tokens = saved.x.rows, times = copies_of_heads(saved.index);
    saved.q = fused("fused rotation", {&saved.q_raw}, tokens, saved.q_raw.columns);
    saved.k = fused("fused rotation", {&saved.k_raw}, tokens, times * saved.k_raw.columns);
    saved.v =
        times == 1 ? saved.v_raw : fused("repeat heads", {&saved.v_raw}, tokens, times * saved.v_raw.columns);
}

std::int64_t CompiledLayers::copies_of_heads(std::int32_t index) const {
    const AttentionShape& shape = context_.model().layer(index).attention;
    return context_.model().form.repeated_heads ? shape.heads / shape.kv_heads : 1;
}

// The sum takes over the projection's buffer; it is written, and read again after the row's factor is known.
void CompiledLayers::second_norm(Saved& saved, Tensor attended) {
    saved.rstd2 = tape_.storages.empty("rstd", saved.x.rows, 1, DType::fp32);
    saved.norm2 = fused("fused add and norm", {&saved.x, &attended, &attended, &attended}, saved.x.rows,
                        saved.x.columns, &saved.rstd2);
    saved.h = std::move(attended);
}

void CompiledLayers::mlp_product(Saved& saved) {
    const std::int64_t tokens = saved.x.rows;
    if (context_.model().layer(saved.index).mlp.gated && !saved.gate.defined())
        saved.gate = projection(saved, ParameterUse::gate, saved.norm2);
    if (!saved.up.defined()) saved.up = projection(saved, ParameterUse::up, saved.norm2);
    const Tensor& gate = saved.gate.defined() ? saved.gate : saved.up;
    if (!cut_at_product(saved.index)) {
        saved.product = fused("fused activation", {&gate, &saved.up}, tokens, saved.up.columns);
        return;
    }
    saved.activated = fused("fused activation", {&gate}, tokens, gate.columns);
    saved.product = fused("fused product", {&saved.activated, &saved.up}, tokens, saved.up.columns);
}

void CompiledLayers::attend(Saved& saved) {
    const AttentionShape& shape = context_.model().layer(saved.index).attention;
    const std::int64_t tokens = saved.x.rows;
    saved.o = tape_.storages.empty("attention output", tokens, shape.output_width(), saved.v.type);
    saved.lse = tape_.storages.empty("log-sum-exp", tokens, shape.heads, DType::fp32);
    saved.seed = tape_.storages.empty("attention seed", 1, 1, DType::int64);
    saved.offset = tape_.storages.empty("attention offset", 1, 1, DType::int64);
    tape_.compute("attention", modules_.attention_kernel(saved.index, saved.v.type),
                  {{saved.q, Access::read},
                   {saved.k, Access::read},
                   {saved.v, Access::read},
                   {saved.o, Access::write},
                   {saved.lse, Access::write},
                   {saved.seed, Access::write},
                   {saved.offset, Access::write}});
}

Tensor CompiledLayers::forward(Saved& saved) {
    first_norm(saved);
    heads(saved);
    const bool again = recomputes_op_by_op();
    if (!again) drop_unrotated(saved);
    attend(saved);
    second_norm(saved, projection(saved, ParameterUse::attention_output, saved.o));
    mlp_product(saved);
    Tensor y = projection(saved, ParameterUse::down, saved.product);
    tape_.compute("fused add", vector_kernel(y.rows, y.columns, 3 * y.bytes(), y.type),
                  {{saved.h, Access::read}, {y, Access::update}});
    if (again) drop_recomputed(saved);
    return y;
}

// The norms of heads need them in backward.
void CompiledLayers::drop_unrotated(Saved& saved) const {
    if (!context_.model().layer(saved.index).attention.head_norm) saved.q_raw = saved.k_raw = {};
    saved.v_raw = {};
}

bool CompiledLayers::recomputes_op_by_op() const {
    return context_.plan().recomputes_op_by_op() && tape_.gradients;
}

// The partitioner obeys the policy's marks (see KeptOutputs), and drops what backward does not read: unlike
// eager checkpointing it keeps no output of the last product.
void CompiledLayers::drop_recomputed(Saved& saved) const {
    using enum ParameterUse;
    KeptOutputs policy;
    const auto chosen = [&](ParameterUse use) {
        return context_.weights.find({saved.index}, use) &&
               policy.chooses_product(modules_.find_bias({saved.index}, use).has_value());
    };
    for (const auto& [use, output] :
         {std::pair{query, &saved.q_raw}, {key, &saved.k_raw}, {value, &saved.v_raw}})
        if (!chosen(use)) *output = {};
    chosen(attention_output);
    for (const auto& [use, output] : {std::pair{gate, &saved.gate}, {up, &saved.up}})
        if (!chosen(use)) *output = {};
    for (Tensor* output : {&saved.norm1, &saved.rstd1, &saved.q, &saved.k, &saved.v, &saved.h, &saved.norm2,
                           &saved.rstd2, &saved.activated, &saved.product})
        *output = {};
}

void CompiledLayers::recompute(Saved& saved) {
    first_norm(saved);
    heads(saved);
    drop_unrotated(saved);
    second_norm(saved, projection(saved, ParameterUse::attention_output, saved.o));
    mlp_product(saved);
}

Tensor CompiledLayers::projection_gradient(const Saved& saved, ParameterUse use, const Tensor& dy,
                                           Tensor& x) {
    const Tensor w = *weight_of(saved, use);
    weight_gradients_.emplace_back(Tape::target(w), weight_gradient(tape_, dy, x, linear_names(use)));
    if (const auto bias = modules_.find_bias({saved.index}, use))
        weight_gradients_.emplace_back(Tape::target(*bias), fitted(tape_, *bias, dy));
    return data_gradient(tape_, dy, w, linear_names(use));
}

void CompiledLayers::norm_weight_gradient(const Saved& saved, int nth) {
    const Tensor w = *weight_of(saved, ParameterUse::norm, nth);
    Tensor dw = tape_.storages.empty("norm weight gradient", w.rows, w.columns, w.type, Role::gradient);
    tape_.compute("norm weight gradient", reduction_kernel(w.rows, w.columns, 2 * dw.bytes(), w.type),
                  {{dw, Access::write}});
    weight_gradients_.emplace_back(Tape::target(w), std::move(dw));
}

bool CompiledLayers::cut_at_product(std::int32_t index) const {
    const Strategy strategy = context_.plan().strategy;
    if (strategy != Strategy::ddp && strategy != Strategy::zero1) return false;
    const auto up = context_.weights.find({index}, ParameterUse::up);
    if (!up || !context_.model().layer(index).mlp.gated) return false;
    return bytes_of(context_.weights.at(*up).count(), context_.plan().precision.parameter) >= 25_MiB;
}

// In two graphs: product and up; activation and gate.
std::vector<Tensor> CompiledLayers::cut_mlp_backward(Saved& saved, Tensor& dproduct) {
    const std::int64_t tokens = dproduct.rows, width = dproduct.columns;
    Tensor dactivated =
        fused("fused product gradient", {&dproduct, &saved.activated, &saved.up, &dproduct}, tokens, width);
    Tensor dup = std::move(dproduct);
    saved.activated = saved.up = {};
    std::vector<Tensor> gradients{projection_gradient(saved, ParameterUse::up, dup, saved.norm2)};
    dup = {};
    Tensor dgate = fused("fused activation gradient", {&dactivated, &saved.gate}, tokens, width);
    dactivated = saved.gate = {};
    gradients.push_back(projection_gradient(saved, ParameterUse::gate, dgate, saved.norm2));
    return gradients;
}

// Gradients of the second norm's output, one per projection that read it.
std::vector<Tensor> CompiledLayers::mlp_backward(Saved& saved, const Tensor& dy) {
    Tensor dproduct = projection_gradient(saved, ParameterUse::down, dy, saved.product);
    saved.product = {};
    const std::int64_t tokens = dy.rows, width = dproduct.columns;
    if (!saved.gate.defined()) {
        const Tensor dup = fused("fused activation gradient", {&dproduct, &saved.up}, tokens, width);
        return {projection_gradient(saved, ParameterUse::up, dup, saved.norm2)};
    }
    if (saved.activated.defined()) return cut_mlp_backward(saved, dproduct);
    // Writes both gradients, one of them over its input.
    Tensor dgate =
        fused("fused activation gradient", {&dproduct, &saved.gate, &saved.up, &dproduct}, tokens, width);
    Tensor dup = std::move(dproduct);
    saved.gate = saved.up = {};
    std::vector<Tensor> gradients{projection_gradient(saved, ParameterUse::up, dup, saved.norm2)};
    dup = {};
    gradients.push_back(projection_gradient(saved, ParameterUse::gate, dgate, saved.norm2));
    return gradients;
}

std::vector<Tensor> CompiledLayers::attention_backward(Saved& saved, const Tensor& dh) {
    const std::int64_t tokens = dh.rows;
    Tensor d_o = projection_gradient(saved, ParameterUse::attention_output, dh, saved.o);
    Attention kernel = modules_.attention_kernel(saved.index, saved.v.type);
    kernel.backward = true;
    const auto like = [&](std::string_view name, const Tensor& x) {
        return tape_.storages.empty(name, x.rows, x.columns, x.type);
    };
    Tensor dq = like("attention query gradient", saved.q);
    Tensor dk = like("attention key gradient", saved.k);
    Tensor dv = like("attention value gradient", saved.v);
    Tensor workspace = tape_.storages.empty("attention workspace", saved.q.count() + saved.lse.count(), 1,
                                            DType::fp32, Role::workspace);
    tape_.compute("attention gradient", kernel,
                  {{saved.q, Access::read},
                   {saved.k, Access::read},
                   {saved.v, Access::read},
                   {saved.o, Access::read},
                   {saved.lse, Access::read},
                   {saved.seed, Access::read},
                   {saved.offset, Access::read},
                   {d_o, Access::read},
                   {dq, Access::write},
                   {dk, Access::write},
                   {dv, Access::write},
                   {workspace, Access::write}});
    workspace = d_o = saved.q = saved.k = saved.v = saved.o = saved.lse = saved.seed = saved.offset = {};
    const std::int64_t times = copies_of_heads(saved.index);
    if (times > 1) dv = fused("sum over repeated heads", {&dv}, tokens, dv.columns / times);
    std::vector<Tensor> gradients{projection_gradient(saved, ParameterUse::value, dv, saved.norm1)};
    dv = {};
    dk = fused("fused rotation gradient", {&dk, saved.k_raw.defined() ? &saved.k_raw : &dk}, tokens,
               dk.columns / times);
    gradients.push_back(projection_gradient(saved, ParameterUse::key, dk, saved.norm1));
    dk = {};
    dq = fused("fused rotation gradient", {&dq, saved.q_raw.defined() ? &saved.q_raw : &dq}, tokens,
               dq.columns);
    gradients.push_back(projection_gradient(saved, ParameterUse::query, dq, saved.norm1));
    saved.norm1 = dq = {};
    return gradients;
}

// Sum of the gradients, backward of the norm with its second pass over them, and the residual's gradient, in
// one.
Tensor CompiledLayers::norm_backward(std::vector<Tensor> gradients, const Tensor& x, const Tensor& residual) {
    const Tensor& a = gradients.front();
    const Tensor& b = gradients.size() > 1 ? gradients[1] : a;
    if (gradients.size() == 3)
        return fused("fused norm gradient", {&a, &b, &gradients[2], &x, &residual, &x, &residual}, x.rows,
                     x.columns);
    return fused("fused norm gradient", {&a, &b, &x, &residual, &x, &residual}, x.rows, x.columns);
}

// A compiled call walks its parameters in Python as a hook does: forward once for Dynamo's guards and once
// for AOTAutograd's wrapper, backward once for the wrapper. Measured on one host-bound step, 136, 215 and 179
// ms in three runs (calibration/samples, nvl-tinyllama-L22-s256-b1-fsdp-bf16-compile): 135 ms without, 152
// with.
void CompiledLayers::enter(std::int32_t passes) const { context_.hook("compiled call", passes); }

void CompiledLayers::backward(Saved& saved, const Tensor& dy) {
    enter(1);
    if (recomputes_op_by_op()) recompute(saved);
    std::vector<Tensor> gradients = mlp_backward(saved, dy);
    saved.norm2 = {};
    norm_weight_gradient(saved, 1);
    Tensor dh = norm_backward(std::move(gradients), saved.h, dy);
    saved.h = saved.rstd2 = {};
    gradients = attention_backward(saved, dh);
    norm_weight_gradient(saved, 0);
    Tensor dx = norm_backward(std::move(gradients), saved.x, dh);
    dh = {};
    tape_.accumulate(saved.input.target, std::move(dx));
    for (auto& [target, gradient] : std::exchange(weight_gradients_, {}))
        tape_.accumulate(target, std::move(gradient));
}

Tensor CompiledLayers::layer(std::int32_t index, const Tensor& x) {
    // Each weight read in forward has one use for AccumulateGrad to wait for.
    for (const WeightId id : context_.weights.of({index})) {
        const Tensor w = modules_.weight(id);
        tape_.begin({&w}, false);
    }
    enter(2);
    Saved saved{.index = index, .input = Input(x), .x = x};
    Tensor y = forward(saved);
    if (!tape_.gradients) return y;
    tape_.record(y, [this, saved = std::move(saved)](Tape&, Tensor dy) mutable { backward(saved, dy); });
    return y;
}

}  // namespace wirewise
