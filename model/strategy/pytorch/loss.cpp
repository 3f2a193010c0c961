#include "model/strategy/pytorch/loss.hpp"

#include <utility>

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise::eager {

namespace {

Tensor log_softmax(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, true);
    Tensor y = tape.storages.empty("log_softmax", x.rows, x.columns, x.type, Role::logits);
    tape.compute("log_softmax", vector_kernel(x.rows, x.columns, x.bytes() + y.bytes(), x.type),
                 {{x, Access::read}, {y, Access::write}});
    if (node)
        tape.record(y, [input = Input(x), y = y](Tape& t, Tensor gradient) {
            Tensor dx = t.storages.empty("log_softmax gradient", y.rows, y.columns, y.type, Role::logits);
            t.compute("log_softmax gradient", vector_kernel(y.rows, y.columns, 3 * y.bytes(), y.type),
                      {{gradient, Access::read}, {y, Access::read}, {dx, Access::write}});
            t.accumulate(input.target, std::move(dx));
        });
    return y;
}

Tensor nll(Tape& tape, const Tensor& x, const Tensor& labels) {
    const bool node = tape.begin({&x}, true);
    Tensor loss = tape.storages.empty("loss", 1, 1, x.type);
    Tensor total = tape.storages.empty("loss total weight", 1, 1, x.type);
    tape.compute("nll_loss", vector_kernel(x.rows, 1, labels.bytes() * 2, x.type),
                 {{x, Access::read}, {labels, Access::read}, {loss, Access::write}, {total, Access::write}});
    if (node)
        tape.record(loss, [input = Input(x), x, labels, total](Tape& t, Tensor gradient) {
            Tensor dx = t.storages.empty("nll_loss gradient", x.rows, x.columns, x.type, Role::logits);
            t.compute("nll_loss gradient, zeros", vector_kernel(x.rows, x.columns, dx.bytes(), x.type),
                      {{dx, Access::write}});
            t.compute("nll_loss gradient", vector_kernel(x.rows, 1, labels.bytes() * 2, x.type),
                      {{gradient, Access::read},
                       {labels, Access::read},
                       {total, Access::read},
                       {dx, Access::update}});
            t.accumulate(input.target, std::move(dx));
        });
    return loss;
}

// Inductor keeps the logits and a row's log-sum-exp, and writes the logits' gradient in their own type.
Tensor compiled_loss(Tape& tape, const Tensor& logits, const Tensor& labels) {
    const bool node = tape.begin({&logits}, true);
    Tensor lse = tape.storages.empty("log-sum-exp of the logits", logits.rows, 1, DType::fp32);
    Tensor loss = tape.storages.empty("loss", 1, 1, DType::fp32);
    // Twice over a row: its maximum and sum, then the label's part.
    tape.compute(
        "fused loss", reduction_kernel(logits.rows, logits.columns, 2 * logits.bytes(), logits.type),
        {{logits, Access::read}, {labels, Access::read}, {lse, Access::write}, {loss, Access::write}});
    if (node)
        tape.record(loss, [x = logits, input = Input(logits), labels, lse](Tape& t, Tensor gradient) {
            Tensor dx = t.storages.empty("fused loss gradient", x.rows, x.columns, x.type, Role::logits);
            t.compute("fused loss gradient", vector_kernel(x.rows, x.columns, 2 * x.bytes(), x.type),
                      {{gradient, Access::read},
                       {x, Access::read},
                       {labels, Access::read},
                       {lse, Access::read},
                       {dx, Access::write}});
            t.accumulate(input.target, std::move(dx));
        });
    return loss;
}

}  // namespace

Tensor causal_loss(Tape& tape, const Tensor& logits, const Tensor& labels, const LossSettings& settings) {
    if (settings.compiled) return compiled_loss(tape, logits, labels);
    const Tensor upcast = cast(tape, logits, settings.upcasts ? DType::fp32 : logits.type);
    Tensor padded = tape.storages.empty("padded labels", labels.rows + 1, 1, DType::int64);
    tape.compute("pad labels", vector_kernel(labels.rows, 1, 2 * labels.bytes(), DType::int64),
                 {{labels, Access::read}, {padded, Access::write}});
    Tensor shifted = tape.storages.empty("shifted labels", labels.rows, 1, DType::int64);
    tape.compute("shift labels", vector_kernel(labels.rows, 1, 2 * labels.bytes(), DType::int64),
                 {{padded, Access::read}, {shifted, Access::write}});
    return nll(tape, log_softmax(tape, upcast), shifted);
}

}  // namespace wirewise::eager
