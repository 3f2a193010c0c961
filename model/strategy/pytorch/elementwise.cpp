#include <algorithm>
#include <utility>

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/ops_detail.hpp"

namespace wirewise::eager {

namespace {

DType promoted(DType a, DType b) { return size_of(a) >= size_of(b) ? a : b; }

// One elementwise kernel over `x` into a fresh tensor of `type`.
Tensor map(Tape& tape, std::string_view name, const Tensor& x, DType type, AccessClass access) {
    Tensor result = tape.storages.empty(name, x.rows, x.columns, type);
    tape.compute(name, eager_kernel(access, x.rows, x.columns, x.bytes() + result.bytes(), type),
                 {{x, Access::read}, {result, Access::write}});
    return result;
}
Tensor map(Tape& tape, std::string_view name, const Tensor& x) {
    return map(tape, name, x, x.type, AccessClass::vector);
}

// One elementwise kernel over two tensors; the smaller one is broadcast.
Tensor zip(Tape& tape, std::string_view name, const Tensor& a, const Tensor& b) {
    const Tensor& big = a.count() >= b.count() ? a : b;
    const bool broadcast = a.count() != b.count();
    Tensor result = tape.storages.empty(name, big.rows, big.columns, promoted(a.type, b.type));
    const Bytes traffic = broadcast ? big.bytes() + result.bytes() : a.bytes() + b.bytes() + result.bytes();
    tape.compute(name,
                 eager_kernel(broadcast ? AccessClass::broadcast : AccessClass::vector, big.rows, big.columns,
                              traffic, result.type),
                 {{a, Access::read}, {b, Access::read}, {result, Access::write}});
    return result;
}

}  // namespace

Bytes column_sum_workspace(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kLeastRows = 1024;  // 256 values per thread, 4 threads per column
    if (rows < kLeastRows) return Bytes(0);
    const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    constexpr std::int64_t kBlocks = 132 * (2048 / 128);  // resident at once, of 128 threads
    const std::int64_t wanted = std::min(divide_up(kBlocks, divide_up(columns, 128)), divide_up(rows, 64));
    const std::int64_t blocks = std::max(wanted, divide_up(rows, 1024));
    return blocks > 1 ? Bytes(512) * columns * blocks : Bytes(0);
}

// The engine's validate_outputs: a gradient is summed and cast to what its input was.
Tensor fitted(Tape& tape, const Input& input, Tensor gradient) {
    if (gradient.count() > input.rows * input.columns) {
        Tensor sum = tape.storages.empty("gradient sum over rows", input.rows, input.columns, gradient.type);
        const Bytes staged =
            input.rows == 1 ? column_sum_workspace(gradient.rows, gradient.columns) : Bytes(0);
        const Kernel kernel =
            reduction_kernel(gradient.rows, gradient.columns, gradient.bytes() + sum.bytes(), gradient.type);
        if (staged > Bytes(0)) {
            const Tensor workspace =
                tape.storages.empty("sum workspace", staged.count(), 1, DType::int8, Role::workspace);
            tape.compute("sum to shape", kernel,
                         {{gradient, Access::read}, {sum, Access::write}, {workspace, Access::write}});
        } else {
            tape.compute("sum to shape", kernel, {{gradient, Access::read}, {sum, Access::write}});
        }
        gradient = std::move(sum);
    }
    return convert(tape, "cast gradient", std::move(gradient), input.type);
}

Tensor convert(Tape& tape, std::string_view name, Tensor x, DType type) {
    if (x.type == type) return x;
    const bool up = size_of(type) > size_of(x.type);
    return map(tape, name, x, type, up ? AccessClass::broadcast : AccessClass::vector);
}

Tensor cast(Tape& tape, const Tensor& x, DType type) {
    if (x.type == type) return x;
    const bool node = tape.begin({&x}, false);
    Tensor result = convert(tape, "cast", x, type);
    result.slot = GradientSlot::none;
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            t.accumulate(input.target, convert(t, "cast gradient", std::move(gradient), input.type));
        });
    return result;
}

Tensor add(Tape& tape, const Tensor& a, const Tensor& b) {
    const bool node = tape.begin({&a, &b}, false);
    Tensor result = zip(tape, "add", a, b);
    if (node)
        tape.record(result, [a = Input(a), b = Input(b)](Tape& t, Tensor gradient) {
            if (a.wanted()) t.accumulate(a.target, fitted(t, a, gradient));
            if (b.wanted()) t.accumulate(b.target, fitted(t, b, std::move(gradient)));
        });
    return result;
}

Tensor add_scalar(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, false);
    Tensor result = map(tape, "add scalar", x);
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            t.accumulate(input.target, std::move(gradient));
        });
    return result;
}

Tensor multiply(Tape& tape, const Tensor& a, const Tensor& b) {
    const bool node = tape.begin({&a, &b}, true);
    Tensor result = zip(tape, "multiply", a, b);
    if (!node) return result;
    // Each factor is saved only for the other's gradient.
    Tensor saved_a = b.requires_gradient() ? a : Tensor();
    Tensor saved_b = a.requires_gradient() ? b : Tensor();
    tape.record(result, [a = Input(a), b = Input(b), saved_a = std::move(saved_a),
                         saved_b = std::move(saved_b)](Tape& t, Tensor gradient) {
        Tensor for_b, for_a;
        if (b.wanted()) for_b = zip(t, "multiply gradient", gradient, saved_a);
        if (a.wanted()) for_a = zip(t, "multiply gradient", gradient, saved_b);
        if (a.wanted()) for_a = fitted(t, a, std::move(for_a));
        if (b.wanted()) for_b = fitted(t, b, std::move(for_b));
        if (a.wanted()) t.accumulate(a.target, std::move(for_a));
        if (b.wanted()) t.accumulate(b.target, std::move(for_b));
    });
    return result;
}

Tensor negative(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, false);
    Tensor result = map(tape, "negative", x, x.type, AccessClass::broadcast);
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            t.accumulate(input.target,
                         map(t, "negative gradient", gradient, gradient.type, AccessClass::broadcast));
        });
    return result;
}

Tensor scale(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, false);
    Tensor result = map(tape, "scale", x);
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            t.accumulate(input.target, map(t, "scale gradient", gradient));
        });
    return result;
}

// An elementwise function whose gradient is made from its result, which is kept.
static Tensor kept_result(Tape& tape, const Tensor& x, std::string_view name,
                          std::string_view gradient_name) {
    const bool node = tape.begin({&x}, true);
    Tensor result = map(tape, name, x);
    if (node)
        tape.record(result, [input = Input(x), y = result, gradient_name](Tape& t, Tensor gradient) {
            t.accumulate(input.target, zip(t, gradient_name, gradient, y));
        });
    return result;
}

Tensor tangent(Tape& tape, const Tensor& x) { return kept_result(tape, x, "tanh", "tanh gradient"); }

Tensor rectified(Tape& tape, const Tensor& x) { return kept_result(tape, x, "relu", "relu gradient"); }

Tensor chained_gelu(Tape& tape, const Tensor& x, bool autocast) {
    const Tensor half = scale(tape, x);
    const auto inner = [&] {
        const Tensor sum = add(tape, x, scale(tape, power(tape, autocast ? cast(tape, x, DType::fp32) : x)));
        return scale(tape, sum);
    };
    return multiply(tape, half, add_scalar(tape, tangent(tape, inner())));
}

Tensor dropout(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, true);
    Tensor result = tape.storages.empty("dropout", x.rows, x.columns, x.type);
    Tensor mask = tape.storages.empty("dropout mask", x.rows, x.columns, DType::int8);
    tape.compute("dropout",
                 vector_kernel(x.rows, x.columns, x.bytes() + result.bytes() + mask.bytes(), x.type),
                 {{x, Access::read}, {result, Access::write}, {mask, Access::write}});
    if (node)
        tape.record(result, [input = Input(x), mask](Tape& t, Tensor gradient) {
            Tensor dx = t.storages.empty("dropout gradient", input.rows, input.columns, gradient.type);
            t.compute(
                "dropout gradient",
                vector_kernel(dx.rows, dx.columns, gradient.bytes() + mask.bytes() + dx.bytes(), dx.type),
                {{gradient, Access::read}, {mask, Access::read}, {dx, Access::write}});
            t.accumulate(input.target, std::move(dx));
        });
    return result;
}

Tensor power(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, true);
    Tensor result = map(tape, "power", x);
    if (node)
        tape.record(result, [input = Input(x), x = x](Tape& t, Tensor gradient) {
            // grad * (n * x^(n - 1)): the temporaries live to the end of the C++ expression.
            const Tensor power = map(t, "power gradient, copy", x);
            const Tensor times = map(t, "power gradient, scale", power);
            Tensor product = zip(t, "power gradient", gradient, times);
            t.accumulate(input.target, std::move(product));
        });
    return result;
}

Tensor reciprocal_square_root(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, true);
    Tensor result = map(tape, "rsqrt", x);
    if (node)
        tape.record(result, [input = Input(x), y = result](Tape& t, Tensor gradient) {
            const Tensor half = map(t, "rsqrt gradient, scale", gradient);
            const Tensor cube = map(t, "rsqrt gradient, cube", y);
            t.accumulate(input.target, zip(t, "rsqrt gradient", half, cube));
        });
    return result;
}

Tensor activation(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, true);
    Tensor result = map(tape, "activation", x);
    if (node)
        tape.record(result, [input = Input(x), x = x](Tape& t, Tensor gradient) {
            t.accumulate(input.target, zip(t, "activation gradient", gradient, x));
        });
    return result;
}

}  // namespace wirewise::eager
