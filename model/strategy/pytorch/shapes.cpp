#include <algorithm>
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
            const auto part = [&](const Input& input) {
                return convert(t, "cast gradient", gradient.as(input.rows, input.columns), input.type);
            };
            if (a.wanted()) t.accumulate(a.target, part(a));
            if (b.wanted()) t.accumulate(b.target, part(b));
        });
    return result;
}

Parts split(Tape& tape, const Tensor& x, std::int64_t first_columns) {
    const bool node = tape.begin({&x}, false);
    Parts parts{x.as(x.rows, first_columns), x.as(x.rows, x.columns - first_columns)};
    parts.first.slot = parts.second.slot = GradientSlot::none;
    if (!node) return parts;
    tape.record(parts.second, [](Tape&, Tensor) {});
    const GradientSlot second = parts.second.slot;
    tape.record(parts.first, [input = Input(x), second](Tape& t, Tensor gradient) {
        const Tensor other = t.take(second);
        Tensor whole = t.storages.empty("split gradient", input.rows, input.columns, gradient.type);
        t.compute("split gradient",
                  broadcast_kernel(whole.rows, whole.columns, whole.bytes() + whole.bytes(), whole.type),
                  {{gradient, Access::read}, {other, Access::read}, {whole, Access::write}});
        t.accumulate(input.target, std::move(whole));
    });
    return parts;
}

ThreeParts split(Tape& tape, const Tensor& x, std::int64_t first_columns, std::int64_t second_columns,
                 bool copies_gradient) {
    const bool node = tape.begin({&x}, false);
    ThreeParts parts{x.as(x.rows, first_columns), x.as(x.rows, second_columns),
                     x.as(x.rows, x.columns - first_columns - second_columns)};
    parts.first.slot = parts.second.slot = parts.third.slot = GradientSlot::none;
    if (!node) return parts;
    tape.record(parts.third, [](Tape&, Tensor) {});
    tape.record(parts.second, [](Tape&, Tensor) {});
    tape.record(parts.first, [input = Input(x), second = parts.second.slot, third = parts.third.slot,
                              copies_gradient](Tape& t, Tensor gradient) {
        Tensor b = t.take(second), c = t.take(third);
        Tensor whole = t.storages.empty("split gradient", input.rows, input.columns, gradient.type);
        t.compute("split gradient",
                  broadcast_kernel(whole.rows, whole.columns, whole.bytes() + whole.bytes(), whole.type),
                  {{gradient, Access::read}, {b, Access::read}, {c, Access::read}, {whole, Access::write}});
        gradient = b = c = {};
        if (copies_gradient) whole = copied(t, "gradient in matrix layout", whole);
        whole.view = true;
        t.accumulate(input.target, std::move(whole));
    });
    return parts;
}

std::vector<Tensor> split_rows(Tape& tape, const Tensor& x, std::int64_t rows) {
    const bool node = tape.begin({&x}, false);
    std::vector<Tensor> parts;
    for (std::int64_t first = 0; first < x.rows; first += rows) {
        parts.push_back(x.as(std::min(rows, x.rows - first), x.columns));
        parts.back().slot = GradientSlot::none;
    }
    if (!node) return parts;
    std::vector<GradientSlot> others;
    for (std::size_t i = parts.size() - 1; i > 0; --i) {
        tape.record(parts[i], [](Tape&, Tensor) {});
        others.push_back(parts[i].slot);
    }
    tape.record(parts.front(), [input = Input(x), others](Tape& t, Tensor gradient) {
        Tensor whole = t.storages.empty("split gradient", input.rows, input.columns, gradient.type);
        const Bytes first = 2 * gradient.bytes();
        t.compute("split gradient", broadcast_kernel(gradient.rows, gradient.columns, first, gradient.type),
                  {{gradient, Access::read}, {whole, Access::write}});
        gradient = {};
        for (const GradientSlot slot : others) {
            const Tensor part = t.take(slot);
            t.compute("split gradient",
                      broadcast_kernel(part.rows, part.columns, 2 * part.bytes(), part.type),
                      {{part, Access::read}, {whole, Access::update}});
        }
        t.accumulate(input.target, std::move(whole));
    });
    return parts;
}

Tensor expand_rows(Tape& tape, const Tensor& x, std::int64_t times) {
    const bool node = tape.begin({&x}, false);
    Tensor result = x.as(x.rows * times, x.columns);
    result.slot = GradientSlot::none;
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            t.accumulate(input.target, fitted(t, input, std::move(gradient)));
        });
    return result;
}

namespace {

// Rows moved by index, from `x` into `rows` rows.
Tensor moved(Tape& tape, std::string_view name, const Tensor& x, std::int64_t rows) {
    Tensor result = tape.storages.empty(name, rows, x.columns, x.type);
    tape.compute(name,
                 eager_kernel(AccessClass::gather, std::max(rows, x.rows), x.columns,
                              x.bytes() + result.bytes(), x.type),
                 {{x, Access::read}, {result, Access::write}});
    return result;
}

// Indexing's backward sorts the indices and adds row by row (index_put_ with accumulate): 24e9 elements of 16
// bits a second, as published for torch's own index backward (FlagGems pull request 1744: 1000 x 65536
// in 2.68 ms), and 22e9 to 26e9 in steps of Mixtral and Qwen3 on one H200 (2026-11-30). As long as a gather
// of so many bytes each.
constexpr std::int64_t kBytesPerAddedElement = 125;

Tensor added_back(Tape& tape, std::string_view name, const Tensor& gradient, std::int64_t rows) {
    Tensor result = tape.storages.empty(name, rows, gradient.columns, gradient.type);
    const std::int64_t added = std::max(rows, gradient.rows);
    tape.compute(name,
                 eager_kernel(AccessClass::gather, added, gradient.columns,
                              Bytes(added * gradient.columns * kBytesPerAddedElement), gradient.type),
                 {{gradient, Access::read}, {result, Access::write}});
    return result;
}

Tensor move_rows(Tape& tape, std::string_view name, const Tensor& x, std::int64_t rows) {
    const bool node = tape.begin({&x}, false);
    Tensor result = moved(tape, name, x, rows);
    if (node)
        tape.record(result, [input = Input(x), name](Tape& t, Tensor gradient) {
            t.accumulate(input.target, added_back(t, name, gradient, input.rows));
        });
    return result;
}

}  // namespace

Tensor scatter_rows(Tape& tape, const Tensor& x, std::int64_t times) {
    return move_rows(tape, "dispatch rows", x, x.rows * times);
}
Tensor gather_rows(Tape& tape, const Tensor& x, std::int64_t times) {
    return move_rows(tape, "combine rows", x, x.rows / times);
}

}  // namespace wirewise::eager
