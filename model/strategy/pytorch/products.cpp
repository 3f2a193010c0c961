#include <utility>

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/ops_detail.hpp"

namespace wirewise::eager {

namespace {

Gemm gemm(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k, DType type) {
    Gemm result;
    result.layout = layout;
    result.m = m;
    result.n = n;
    result.k = k;
    result.type = result.result = type;
    return result;
}

}  // namespace

Tensor data_gradient(Tape& t, const Tensor& dy, const Tensor& weight, const LinearNames& names) {
    Tensor dx = t.storages.empty(names.data_gradient, dy.rows, weight.columns, dy.type);
    t.compute(names.data_gradient,
              gemm(GemmLayout::data_gradient, dy.rows, weight.columns, dy.columns, dy.type),
              {{dy, Access::read}, {weight, Access::read}, {dx, Access::write}});
    dx.view = true;
    return dx;
}

Tensor weight_gradient(Tape& t, const Tensor& dy, const Tensor& x, const LinearNames& names) {
    Tensor dw = t.storages.empty(names.weight_gradient, dy.columns, x.columns, dy.type, Role::gradient);
    t.compute(names.weight_gradient,
              gemm(GemmLayout::weight_gradient, dy.columns, x.columns, dy.rows, dy.type),
              {{dy, Access::read}, {x, Access::read}, {dw, Access::write}});
    dw.view = true;
    return dw;
}

Tensor matmul(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor* bias,
              const LinearNames& names) {
    Tensor y = tape.storages.empty(names.forward, x.rows, weight.rows, x.type);
    Gemm kernel = gemm(GemmLayout::forward, x.rows, weight.rows, x.columns, x.type);
    kernel.bias = bias != nullptr;
    if (bias)
        tape.compute(names.forward, kernel,
                     {{x, Access::read}, {weight, Access::read}, {*bias, Access::read}, {y, Access::write}});
    else
        tape.compute(names.forward, kernel, {{x, Access::read}, {weight, Access::read}, {y, Access::write}});
    return y;
}

// Without bias mm(x, weight^T), with bias addmm(bias, x, weight^T).
Tensor linear(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor* bias,
              const LinearNames& names) {
    const bool node = bias ? tape.begin({&x, &weight, bias}, true) : tape.begin({&x, &weight}, true);
    Tensor y = matmul(tape, x, weight, bias, names);
    if (!node) return y;
    std::optional<Input> bias_input;
    if (bias) bias_input = Input(*bias);
    tape.record(y, [xi = Input(x), wi = Input(weight), bias_input, x = x, weight = weight, names](
                       Tape& t, Tensor gradient) {
        Tensor dx, dw, db;
        const bool data_first = bias_input.has_value();  // mat1, mat2, self against mat2, self
        if (data_first && xi.wanted()) dx = data_gradient(t, gradient, weight, names);
        if (wi.wanted()) dw = weight_gradient(t, gradient, x, names);
        if (!data_first && xi.wanted()) dx = data_gradient(t, gradient, weight, names);
        if (bias_input) db = fitted(t, *bias_input, gradient);
        if (xi.wanted()) t.accumulate(xi.target, std::move(dx));
        if (wi.wanted()) t.accumulate(wi.target, std::move(dw));
        if (bias_input) t.accumulate(bias_input->target, std::move(db));
    });
    return y;
}

// The experts' rows stand one after another; each meets its own slice of the stacked weights.
Tensor expert_linear(Tape& tape, const Tensor& x, const Tensor& stacked, std::int64_t experts,
                     const LinearNames& names) {
    const bool node = tape.begin({&x, &stacked}, true);
    const std::int64_t out = stacked.count() / experts / x.columns;
    const auto kernel_of = [=, type = x.type, rows = x.rows, in = x.columns](GemmLayout layout) {
        Gemm kernel = layout == GemmLayout::forward         ? gemm(layout, rows, out, in, type)
                      : layout == GemmLayout::data_gradient ? gemm(layout, rows, in, out, type)
                                                            : gemm(layout, out, in, rows, type);
        kernel.groups = experts;
        return kernel;
    };
    Tensor y = tape.storages.empty(names.forward, x.rows, out, x.type);
    tape.compute(names.forward, kernel_of(GemmLayout::forward),
                 {{x, Access::read}, {stacked, Access::read}, {y, Access::write}});
    if (!node) return y;
    tape.record(y, [xi = Input(x), wi = Input(stacked), x = x, stacked = stacked, names, kernel_of](
                       Tape& t, Tensor gradient) {
        Tensor dw = t.storages.empty(names.weight_gradient, wi.rows, wi.columns, wi.type, Role::gradient);
        t.compute(names.weight_gradient, kernel_of(GemmLayout::weight_gradient),
                  {{gradient, Access::read}, {x, Access::read}, {dw, Access::write}});
        Tensor dx = t.storages.empty(names.data_gradient, xi.rows, xi.columns, xi.type);
        t.compute(names.data_gradient, kernel_of(GemmLayout::data_gradient),
                  {{gradient, Access::read}, {stacked, Access::read}, {dx, Access::write}});
        t.accumulate(xi.target, std::move(dx));
        t.accumulate(wi.target, std::move(dw));
    });
    return y;
}

// cuDNN's attention through scaled_dot_product_attention(is_causal, enable_gqa): K and V are not expanded;
// the output comes in the layout that makes the transpose free; the log-sum-exp and two seed scalars are
// kept.
Tensor attention(Tape& tape, const Tensor& q, const Tensor& k, const Tensor& v, const Attention& shape) {
    const bool node = tape.begin({&q, &k, &v}, true);
    const std::int64_t tokens = shape.batch * shape.sequence;
    Tensor o = tape.storages.empty("attention output", tokens, shape.heads * shape.value_head_dim, v.type);
    Tensor lse = tape.storages.empty("log-sum-exp", tokens, shape.heads, DType::fp32);
    Tensor seed = tape.storages.empty("attention seed", 1, 1, DType::int64);
    Tensor offset = tape.storages.empty("attention offset", 1, 1, DType::int64);
    tape.compute("attention", shape,
                 {{q, Access::read},
                  {k, Access::read},
                  {v, Access::read},
                  {o, Access::write},
                  {lse, Access::write},
                  {seed, Access::write},
                  {offset, Access::write}});
    if (!node) return o;
    tape.record(o, [q, k, v, o, lse, seed, offset, shape](Tape& t, Tensor gradient) {
        Attention kernel = shape;
        kernel.backward = true;
        Tensor dq = t.storages.empty("attention query gradient", q.rows, q.columns, q.type);
        Tensor dk = t.storages.empty("attention key gradient", k.rows, k.columns, k.type);
        Tensor dv = t.storages.empty("attention value gradient", v.rows, v.columns, v.type);
        Tensor workspace =
            t.storages.empty("attention workspace", q.count() + lse.count(), 1, DType::fp32, Role::workspace);
        t.compute("attention gradient", kernel,
                  {{q, Access::read},
                   {k, Access::read},
                   {v, Access::read},
                   {o, Access::read},
                   {lse, Access::read},
                   {seed, Access::read},
                   {offset, Access::read},
                   {gradient, Access::read},
                   {dq, Access::write},
                   {dk, Access::write},
                   {dv, Access::write},
                   {workspace, Access::write}});
        workspace = {};
        t.accumulate(Tape::target(q), std::move(dq));
        t.accumulate(Tape::target(k), std::move(dk));
        t.accumulate(Tape::target(v), std::move(dv));
    });
    return o;
}

Tensor embedding(Tape& tape, const Tensor& table, const Tensor& ids) {
    const bool node = tape.begin({&table}, true);
    Tensor x = tape.storages.empty("embedding", ids.rows, table.columns, table.type);
    tape.compute("embedding",
                 eager_kernel(AccessClass::gather, x.rows, x.columns, x.bytes() + x.bytes(), x.type),
                 {{ids, Access::read}, {table, Access::read}, {x, Access::write}});
    if (!node) return x;
    tape.record(x, [input = Input(table), ids](Tape& t, Tensor gradient) {
        Tensor dw =
            t.storages.empty("embedding gradient", input.rows, input.columns, gradient.type, Role::gradient);
        t.compute("embedding gradient, zeros", vector_kernel(dw.rows, dw.columns, dw.bytes(), dw.type),
                  {{dw, Access::write}});
        Tensor sorted = t.storages.empty("sorted ids", ids.rows, 2, DType::int64);
        t.compute("sort ids", vector_kernel(ids.rows, 1, 4 * ids.bytes(), DType::int64),
                  {{ids, Access::read}, {sorted, Access::write}});
        t.compute("embedding gradient",
                  eager_kernel(AccessClass::gather, gradient.rows, gradient.columns,
                               gradient.bytes() + gradient.bytes(), gradient.type),
                  {{sorted, Access::read}, {gradient, Access::read}, {dw, Access::update}});
        sorted = {};
        t.accumulate(input.target, std::move(dw));
    });
    return x;
}

}  // namespace wirewise::eager
