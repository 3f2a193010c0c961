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
    const bool chosen = tape.kept.chooses_product(bias != nullptr) && !tape.storages.skipping;
    Tensor y = chosen && tape.kept.restoring() ? tape.kept.restore() : matmul(tape, x, weight, bias, names);
    if (chosen) tape.kept.keep(y);
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

Tensor batched_product(Tape& tape, const Tensor& a, const Tensor& b, std::int64_t columns,
                       const LinearNames& names) {
    const bool node = tape.begin({&a, &b}, true);
    const auto kernel_of = [rows = a.rows, inner = a.columns, columns, type = a.type](GemmLayout layout) {
        if (layout == GemmLayout::forward) return gemm(layout, rows, columns, inner, type);
        return gemm(layout, rows, inner, columns, type);
    };
    Tensor y = tape.storages.empty(names.forward, a.rows, columns, a.type);
    tape.compute(names.forward, kernel_of(GemmLayout::forward),
                 {{a, Access::read}, {b, Access::read}, {y, Access::write}});
    if (!node) return y;
    tape.record(y, [a, b, names, kernel_of](Tape& t, Tensor gradient) {
        Tensor db = t.storages.empty(names.weight_gradient, b.rows, b.columns, b.type);
        t.compute(names.weight_gradient, kernel_of(GemmLayout::data_gradient),
                  {{gradient, Access::read}, {a, Access::read}, {db, Access::write}});
        Tensor da = t.storages.empty(names.data_gradient, a.rows, a.columns, a.type);
        t.compute(names.data_gradient, kernel_of(GemmLayout::data_gradient),
                  {{gradient, Access::read}, {b, Access::read}, {da, Access::write}});
        t.accumulate(Tape::target(a), std::move(da));
        t.accumulate(Tape::target(b), std::move(db));
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
        // More than 3072 ids: partial sums in fp32 per run of equal ids, and the sort's scratch (1,687 bytes
        // per id, from traces of 4096 and 8192 ids).
        const std::int64_t scratch = ids.rows > 3072 ? ids.rows * (4 * input.columns + 1687) : 1;
        Tensor partial = t.storages.empty("embedding partial sums", scratch, 1, DType::int8, Role::workspace);
        t.compute("sort ids", vector_kernel(ids.rows, 1, 4 * ids.bytes(), DType::int64),
                  {{ids, Access::read}, {sorted, Access::write}});
        t.compute("embedding gradient",
                  eager_kernel(AccessClass::gather, gradient.rows, gradient.columns,
                               gradient.bytes() + gradient.bytes(), gradient.type),
                  {{sorted, Access::read},
                   {gradient, Access::read},
                   {dw, Access::update},
                   {partial, Access::write}});
        sorted = partial = {};
        t.accumulate(input.target, std::move(dw));
    });
    return x;
}

}  // namespace wirewise::eager
