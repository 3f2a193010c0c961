#include <utility>

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/ops_detail.hpp"

namespace wirewise::eager {

// mean(-1, keepdim): its gradient is materialised in full.
Tensor mean_of_rows(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, false);
    Tensor mean = tape.storages.empty("mean", x.rows, 1, x.type);
    tape.compute("mean", reduction_kernel(x.rows, x.columns, x.bytes() + mean.bytes(), x.type),
                 {{x, Access::read}, {mean, Access::write}});
    if (node)
        tape.record(mean, [input = Input(x)](Tape& t, Tensor gradient) {
            Tensor dx = t.storages.empty("mean gradient", input.rows, input.columns, gradient.type);
            t.compute("mean gradient", broadcast_kernel(dx.rows, dx.columns, dx.bytes(), dx.type),
                      {{gradient, Access::read}, {dx, Access::write}});
            t.accumulate(input.target, std::move(dx));
        });
    return mean;
}

Tensor softmax_of_rows(Tape& tape, const Tensor& x, DType type) {
    const bool node = tape.begin({&x}, true);
    Tensor y = tape.storages.empty("softmax", x.rows, x.columns, type);
    tape.compute("softmax", reduction_kernel(x.rows, x.columns, x.bytes() + y.bytes(), type),
                 {{x, Access::read}, {y, Access::write}});
    if (node)
        tape.record(y, [input = Input(x), y = y](Tape& t, Tensor gradient) {
            const Tensor product = t.storages.empty("softmax gradient product", y.rows, y.columns, y.type);
            t.compute("softmax gradient product", vector_kernel(y.rows, y.columns, 3 * y.bytes(), y.type),
                      {{gradient, Access::read}, {y, Access::read}, {product, Access::write}});
            Tensor dx = t.storages.empty("softmax gradient", y.rows, y.columns, y.type);
            t.compute("softmax gradient",
                      reduction_kernel(y.rows, y.columns, y.bytes() + gradient.bytes() + dx.bytes(), y.type),
                      {{product, Access::read}, {y, Access::read}, {dx, Access::write}});
            t.accumulate(input.target, fitted(t, input, std::move(dx)));
        });
    return y;
}

// Scale, causal mask and softmax of a row in registers; the gradient overwrites what came in.
Tensor fused_softmax_of_rows(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, true);
    Tensor y = tape.storages.empty("softmax", x.rows, x.columns, x.type);
    tape.compute("softmax", vector_kernel(x.rows, x.columns, x.bytes() + y.bytes(), x.type),
                 {{x, Access::read}, {y, Access::write}});
    if (node)
        tape.record(y, [input = Input(x), y = y](Tape& t, Tensor gradient) {
            t.compute("softmax gradient",
                      vector_kernel(y.rows, y.columns, y.bytes() + 2 * gradient.bytes(), y.type),
                      {{y, Access::read}, {gradient, Access::update}});
            t.accumulate(input.target, std::move(gradient));
        });
    return y;
}

// native_layer_norm: one kernel forward; backward one for the input and one for weight and bias.
Tensor layer_norm(Tape& tape, const Tensor& x, const Tensor* weight, const Tensor* bias) {
    const Tensor none;
    const Tensor& w = weight ? *weight : none;
    const Tensor& b = bias ? *bias : none;
    const bool node = tape.begin({&x, &w, &b}, true);
    Tensor y = tape.storages.empty("layer norm", x.rows, x.columns, x.type);
    Tensor mean = tape.storages.empty("layer norm mean", x.rows, 1, DType::fp32);
    Tensor rstd = tape.storages.empty("layer norm rstd", x.rows, 1, DType::fp32);
    tape.compute("layer norm", vector_kernel(x.rows, x.columns, x.bytes() + y.bytes(), x.type),
                 {{x, Access::read}, {y, Access::write}, {mean, Access::write}, {rstd, Access::write}});
    if (!node) return y;
    tape.record(y, [xi = Input(x), wi = Input(w), bi = Input(b), x = x, mean, rstd](Tape& t,
                                                                                    Tensor gradient) {
        Tensor dx = t.storages.empty("layer norm gradient", xi.rows, xi.columns, xi.type);
        t.compute("layer norm gradient",
                  vector_kernel(xi.rows, xi.columns, gradient.bytes() + x.bytes() + dx.bytes(), xi.type),
                  {{gradient, Access::read},
                   {x, Access::read},
                   {mean, Access::read},
                   {rstd, Access::read},
                   {dx, Access::write}});
        Tensor dw, db;
        if (wi.wanted()) {
            dw = t.storages.empty("layer norm weight gradient", wi.rows, wi.columns, wi.type, Role::gradient);
            db = t.storages.empty("layer norm bias gradient", wi.rows, wi.columns, wi.type, Role::gradient);
            t.compute("layer norm weight gradient",
                      reduction_kernel(xi.rows, xi.columns, gradient.bytes() + x.bytes(), xi.type),
                      {{gradient, Access::read},
                       {x, Access::read},
                       {mean, Access::read},
                       {rstd, Access::read},
                       {dw, Access::write},
                       {db, Access::write}});
        }
        if (xi.wanted()) t.accumulate(xi.target, std::move(dx));
        if (wi.wanted()) t.accumulate(wi.target, std::move(dw));
        if (bi.wanted()) t.accumulate(bi.target, std::move(db));
    });
    return y;
}

}  // namespace wirewise::eager
