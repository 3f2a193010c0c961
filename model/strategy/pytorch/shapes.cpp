#include <utility>

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/ops_detail.hpp"

namespace wirewise::eager {

namespace {

Tensor copied(Tape& tape, std::string_view name, const Tensor& x) {
    Tensor result = tape.storages.empty(name, x.rows, x.columns, x.type);
    tape.compute(name, broadcast_kernel(x.rows, x.columns, x.bytes() + result.bytes(), x.type),
                 {{x, Access::read}, {result, Access::write}});
    return result;
}

Tensor zeros(Tape& tape, std::string_view name, std::int64_t rows, std::int64_t columns, DType type) {
    Tensor result = tape.storages.empty(name, rows, columns, type);
    tape.compute(name, vector_kernel(rows, columns, result.bytes(), type), {{result, Access::write}});
    return result;
}

}  // namespace

Tensor reshape(Tape& tape, const Tensor& x, std::int64_t rows, std::int64_t columns, bool copies_gradient) {
    const bool node = tape.begin({&x}, false);
    Tensor result = x.as(rows, columns);
    result.slot = GradientSlot::none;
    if (node)
        tape.record(result, [input = Input(x), copies_gradient](Tape& t, Tensor gradient) {
            if (copies_gradient) gradient = copied(t, "gradient in matrix layout", gradient);
            gradient = gradient.as(input.rows, input.columns);
            gradient.view = true;
            t.accumulate(input.target, std::move(gradient));
        });
    return result;
}

Tensor slice(Tape& tape, const Tensor& x, std::int64_t columns) {
    const bool node = tape.begin({&x}, false);
    Tensor result = x.as(x.rows, columns);
    result.slot = GradientSlot::none;
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            Tensor whole = zeros(t, "slice gradient, zeros", input.rows, input.columns, gradient.type);
            t.compute("slice gradient, copy",
                      broadcast_kernel(gradient.rows, gradient.columns, gradient.bytes() + gradient.bytes(),
                                       gradient.type),
                      {{gradient, Access::read}, {whole, Access::update}});
            t.accumulate(input.target, std::move(whole));
        });
    return result;
}

Tensor concatenate(Tape& tape, const Tensor& a, const Tensor& b) {
    const bool node = tape.begin({&a, &b}, false);
    Tensor result = tape.storages.empty("concatenate", a.rows, a.columns + b.columns, a.type);
    tape.compute("concatenate",
                 broadcast_kernel(result.rows, result.columns, result.bytes() + result.bytes(), a.type),
                 {{a, Access::read}, {b, Access::read}, {result, Access::write}});
    if (node)
        tape.record(result, [a = Input(a), b = Input(b)](Tape& t, Tensor gradient) {
            gradient.view = true;
            if (a.wanted()) t.accumulate(a.target, gradient.as(a.rows, a.columns));
            if (b.wanted()) t.accumulate(b.target, gradient.as(b.rows, b.columns));
        });
    return result;
}

Halves chunk(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, false);
    Halves halves{x.as(x.rows, x.columns / 2), x.as(x.rows, x.columns / 2)};
    halves.first.slot = halves.second.slot = GradientSlot::none;
    if (!node) return halves;
    tape.record(halves.second, [](Tape&, Tensor) {});
    const GradientSlot second = halves.second.slot;
    tape.record(halves.first, [input = Input(x), second](Tape& t, Tensor gradient) {
        const Tensor other = t.take(second);
        Tensor whole = t.storages.empty("chunk gradient", input.rows, input.columns, gradient.type);
        t.compute("chunk gradient",
                  broadcast_kernel(whole.rows, whole.columns, whole.bytes() + whole.bytes(), whole.type),
                  {{gradient, Access::read}, {other, Access::read}, {whole, Access::write}});
        t.accumulate(input.target, std::move(whole));
    });
    return halves;
}

}  // namespace wirewise::eager
