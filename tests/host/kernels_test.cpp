// Kernels against definitions written down in double precision: values directly, gradients as difference
// quotients of the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "executor/host/kernels/activation.hpp"
#include "executor/host/kernels/attention.hpp"
#include "executor/host/kernels/gemm.hpp"
#include "executor/host/kernels/loss.hpp"
#include "executor/host/kernels/norm.hpp"
#include "executor/host/kernels/rope.hpp"
#include "executor/host/kernels/update.hpp"
#include "executor/training/random.hpp"
#include "executor/training/rope_frequencies.hpp"

namespace wirewise {
namespace {

using namespace host;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Definition = std::function<Doubles(const Doubles&)>;

Floats random_values(std::size_t count, std::uint64_t seed) {
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(2 * unit_interval(random_bits(seed, i)) - 1);
    return values;
}

Doubles widened(const Floats& values) { return {values.begin(), values.end()}; }

void expect_near(const Floats& got, const Doubles& expected, double limit) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], limit) << "element " << i;
}

// d(sum of weights x definition(x)) / dx.
Doubles gradient_of(const Definition& definition, Doubles x, const Floats& weights) {
    constexpr double kStep = 1e-5;
    const auto total = [&] {
        const Doubles y = definition(x);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(weights[i]);
        return sum;
    };
    Doubles gradient;
    for (double& element : x) {
        const double kept = element;
        element = kept + kStep;
        const double above = total();
        element = kept - kStep;
        gradient.push_back((above - total()) / (2 * kStep));
        element = kept;
    }
    return gradient;
}

// Rows of q | k | v, as definition of attention: o [tokens, heads x head_dim].
Doubles attention_definition(const Attention& s, const Doubles& x) {
    const std::int64_t d = s.head_dim, width = (s.heads + 2 * s.kv_heads) * d;
    Doubles out(static_cast<std::size_t>(s.batch * s.sequence * s.heads * d));
    const auto at = [&](std::int64_t row, std::int64_t column) {
        return x[static_cast<std::size_t>(row * width + column)];
    };
    for (std::int64_t b = 0; b < s.batch; ++b)
        for (std::int64_t h = 0; h < s.heads; ++h)
            for (std::int64_t i = 0; i < s.sequence; ++i) {
                const std::int64_t g = h / (s.heads / s.kv_heads), query = b * s.sequence + i;
                const std::int64_t low = s.window > 0 ? std::max<std::int64_t>(0, i - s.window + 1) : 0;
                Doubles weights;
                double sum = 0;
                for (std::int64_t j = low; j <= i; ++j) {
                    double score = 0;
                    for (std::int64_t c = 0; c < d; ++c)
                        score += at(query, h * d + c) * at(b * s.sequence + j, (s.heads + g) * d + c);
                    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(d))));
                    sum += weights.back();
                }
                for (std::int64_t j = low; j <= i; ++j)
                    for (std::int64_t c = 0; c < d; ++c)
                        out[static_cast<std::size_t>((query * s.heads + h) * d + c)] +=
                            weights[static_cast<std::size_t>(j - low)] / sum *
                            at(b * s.sequence + j, (s.heads + s.kv_heads + g) * d + c);
            }
    return out;
}

void check_attention(const Attention& shape) {
    const std::int64_t d = shape.head_dim, width = (shape.heads + 2 * shape.kv_heads) * d;
    const auto tokens = static_cast<std::size_t>(shape.batch * shape.sequence);
    const Floats x = random_values(tokens * static_cast<std::size_t>(width), 1);
    Floats out(tokens * static_cast<std::size_t>(shape.heads * d)),
        lse(tokens * static_cast<std::size_t>(shape.heads));
    Floats scratch(static_cast<std::size_t>(attention_scratch(shape)));
    const AttentionInputs inputs{x.data(), x.data() + shape.heads * d,
                                 x.data() + (shape.heads + shape.kv_heads) * d, width, width};
    attention_forward(shape, inputs, out.data(), lse.data(), scratch.data());
    const Definition definition = [&](const Doubles& values) { return attention_definition(shape, values); };
    expect_near(out, definition(widened(x)), 1e-5);

    const Floats dout = random_values(out.size(), 2);
    Floats dx(x.size(), 7);
    attention_backward(
        shape, inputs, out.data(), lse.data(), dout.data(),
        {dx.data(), dx.data() + shape.heads * d, dx.data() + (shape.heads + shape.kv_heads) * d, width},
        scratch.data());
    expect_near(dx, gradient_of(definition, widened(x), dout), 1e-4);
}

TEST(AttentionKernel, IsCausalGroupedAndSeesItsWindow) {
    for (const std::int64_t window : {0, 1, 5})
        check_attention({.batch = 2,
                         .sequence = 9,
                         .heads = 4,
                         .kv_heads = 2,
                         .head_dim = 3,
                         .value_head_dim = 3,
                         .window = window});
}

TEST(AttentionKernel, CrossesItsBlocks) {
    for (const std::int64_t window : {0, 40})
        check_attention({.batch = 1,
                         .sequence = 70,
                         .heads = 1,
                         .kv_heads = 1,
                         .head_dim = 2,
                         .value_head_dim = 2,
                         .window = window});
}

TEST(NormKernel, RmsAndLayerNorm) {
    constexpr std::int64_t kRows = 3, kColumns = 8;
    const Floats x = random_values(kRows * kColumns, 3), weight = random_values(kColumns, 4);
    const Floats bias = random_values(kColumns, 5), dy = random_values(kRows * kColumns, 6);
    for (const bool layer : {false, true}) {
        const NormShape shape{kRows, kColumns, layer, 1e-3F};
        const auto apply = [&](const Doubles& in, const Doubles& w, const Doubles& b) {
            Doubles out;
            for (std::size_t r = 0; r < kRows; ++r) {
                double mean = 0, squares = 0;
                for (std::size_t c = 0; c < kColumns; ++c)
                    mean += layer ? in[r * kColumns + c] / kColumns : 0;
                for (std::size_t c = 0; c < kColumns; ++c)
                    squares += std::pow(in[r * kColumns + c] - mean, 2);
                for (std::size_t c = 0; c < kColumns; ++c)
                    out.push_back(
                        (in[r * kColumns + c] - mean) / std::sqrt(squares / kColumns + 1e-3) * w[c] + b[c]);
            }
            return out;
        };
        Floats y(x.size()), again(x.size()), statistics(2 * kRows), dx(x.size(), 1), dw(kColumns),
            db(kColumns);
        norm_forward(shape, x.data(), weight.data(), bias.data(), y.data(), statistics.data());
        expect_near(y, apply(widened(x), widened(weight), widened(bias)), 1e-5);
        norm_recompute(shape, x.data(), weight.data(), bias.data(), statistics.data(), again.data());
        EXPECT_EQ(again, y);
        norm_backward(shape, dy.data(), x.data(), weight.data(), statistics.data(), dx.data(), dw.data(),
                      db.data());
        const auto of_x = [&](const Doubles& v) { return apply(v, widened(weight), widened(bias)); };
        const auto of_weight = [&](const Doubles& v) { return apply(widened(x), v, widened(bias)); };
        const auto of_bias = [&](const Doubles& v) { return apply(widened(x), widened(weight), v); };
        for (float& value : dx) value -= 1;  // it was added to
        expect_near(dx, gradient_of(of_x, widened(x), dy), 1e-4);
        expect_near(dw, gradient_of(of_weight, widened(weight), dy), 1e-4);
        expect_near(db, gradient_of(of_bias, widened(bias), dy), 1e-4);
    }
}

TEST(HeadNormKernel, IsRmsNormPerHead) {
    const HeadNormShape shape{2, 2, 1, 4, 1e-3F};
    constexpr std::int64_t kStride = 16;  // q | k | v
    const Floats x = random_values(2 * kStride, 8), weight = random_values(8, 9),
                 dy = random_values(2 * 12, 10);
    Floats y(2 * 12), statistics(6), dw(8), gradient(2 * kStride, 5);
    head_norm_forward(shape, x.data(), kStride, weight.data(), y.data(), 12, statistics.data());
    for (std::int64_t r = 0; r < 2; ++r)
        for (std::int64_t h = 0; h < 3; ++h) {
            const NormShape head{1, 4, false, 1e-3F};
            const float* const w = weight.data() + (h < 2 ? 0 : 4);
            Floats expected(4), rstd(1), dx(4), dweight(4);
            norm_forward(head, x.data() + r * kStride + h * 4, w, nullptr, expected.data(), rstd.data());
            for (std::size_t c = 0; c < 4; ++c)
                EXPECT_EQ(y[static_cast<std::size_t>(r * 12 + h * 4) + c], expected[c]);
        }
    for (std::size_t r = 0; r < 2; ++r)
        std::copy_n(dy.begin() + static_cast<std::ptrdiff_t>(r * 12), 12,
                    gradient.begin() + static_cast<std::ptrdiff_t>(r * kStride));
    head_norm_backward(shape, gradient.data(), kStride, x.data(), kStride, weight.data(), statistics.data(),
                       dw.data());
    EXPECT_EQ(gradient[12], 5);  // v's gradient stays
    Floats dx(4), dweight(4);
    norm_backward({1, 4, false, 1e-3F}, dy.data() + 8, x.data() + 8, weight.data() + 4, statistics.data() + 2,
                  dx.data(), dweight.data(), nullptr);
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(gradient[8 + c], dx[c], 1e-6);
}

TEST(RopeKernel, TurnsPairsAndTurnsThemBack) {
    Transformer model;
    model.rope_theta = 100;
    const std::vector<float> frequencies = rope_frequencies(model, 4);
    EXPECT_FLOAT_EQ(frequencies[1], 0.1F);
    const RopeTable table = rope_table(frequencies, 5);
    const RopeShape shape{.rows = 10, .stride = 7, .heads = 1, .head_dim = 6, .sequence = 5};
    const Floats x = random_values(70, 11);
    Floats y = x;
    rope(shape, table, false, y.data());
    const auto at = [](const Floats& values, int row, int column) {
        return values[static_cast<std::size_t>(row * 7 + column)];
    };
    const double angle = 3 * 0.1;  // row 8 is position 3 of the second sequence
    EXPECT_NEAR(at(y, 8, 1), at(x, 8, 1) * std::cos(angle) - at(x, 8, 3) * std::sin(angle), 1e-6);
    EXPECT_NEAR(at(y, 8, 3), at(x, 8, 3) * std::cos(angle) + at(x, 8, 1) * std::sin(angle), 1e-6);
    EXPECT_EQ(at(y, 8, 4), at(x, 8, 4));  // beyond the rotary dimensions
    rope(shape, table, true, y.data());
    expect_near(y, widened(x), 1e-6);
}

TEST(RopeKernel, ScalesAsLlama3Does) {
    Transformer model;
    model.rope_theta = 500000;
    model.rope_scaling = {"llama3", 8, 1, 4, 8192};
    const std::vector<float> scaled = rope_frequencies(model, 128);
    model.rope_scaling = {};
    const std::vector<float> plain = rope_frequencies(model, 128);
    EXPECT_EQ(scaled.front(), plain.front());          // short waves keep their speed
    EXPECT_FLOAT_EQ(scaled.back(), plain.back() / 8);  // long ones are slowed down
    EXPECT_TRUE(std::is_sorted(scaled.rbegin(), scaled.rend()));
    model.rope_scaling.kind = "yarn";
    EXPECT_THROW(rope_frequencies(model, 128), InputError);
}

double activation_definition(ActivationKind kind, double x) {
    switch (kind) {
        case ActivationKind::silu:
            return x / (1 + std::exp(-x));
        case ActivationKind::gelu:
            return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
        case ActivationKind::gelu_tanh:
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case ActivationKind::relu:
            return std::max(x, 0.0);
        case ActivationKind::relu_squared:
            return std::pow(std::max(x, 0.0), 2);
    }
    return 0;
}

TEST(ActivationKernel, EveryKindGatedAndPlain) {
    for (const auto kind : {ActivationKind::silu, ActivationKind::gelu, ActivationKind::gelu_tanh,
                            ActivationKind::relu, ActivationKind::relu_squared})
        for (const bool gated : {false, true}) {
            const ActivationShape shape{2, 5, kind, gated};
            const std::size_t width = gated ? 10 : 5;
            Floats x = random_values(2 * width, 12);
            const Definition definition = [&](const Doubles& in) {
                Doubles out;
                for (std::size_t r = 0; r < 2; ++r)
                    for (std::size_t c = 0; c < 5; ++c)
                        out.push_back(activation_definition(kind, in[r * width + c]) *
                                      (gated ? in[r * width + 5 + c] : 1));
                return out;
            };
            Floats product(10);
            activation_forward(shape, x.data(), product.data());
            expect_near(product, definition(widened(x)), 1e-6);
            const Floats dproduct = random_values(10, 13);
            const Doubles expected = gradient_of(definition, widened(x), dproduct);
            activation_backward(shape, dproduct.data(), x.data());
            expect_near(x, expected, 1e-5);
        }
}

TEST(CrossEntropyKernel, SkipsRowsWithoutTarget) {
    const std::vector<std::int32_t> targets{2, -1, 0};
    Floats logits = random_values(3 * 4, 14);
    const Definition definition = [&](const Doubles& in) {
        double loss = 0;
        for (std::size_t r = 0; r < 3; ++r) {
            if (targets[r] < 0) continue;
            double sum = 0;
            for (std::size_t c = 0; c < 4; ++c) sum += std::exp(in[r * 4 + c]);
            loss += std::log(sum) - in[r * 4 + static_cast<std::size_t>(targets[r])];
        }
        return Doubles{0.25 * loss};
    };
    const Doubles expected = gradient_of(definition, widened(logits), {1});
    float loss = 1;
    cross_entropy(logits.data(), targets.data(), 3, 4, 0.25F, false, &loss);
    EXPECT_NEAR(loss, 1 + definition(widened(logits))[0], 1e-6);
    cross_entropy(logits.data(), targets.data(), 3, 4, 0.25F, true, &loss);
    expect_near(logits, expected, 1e-6);
}

TEST(GemmKernel, EveryLayoutWithItsExtras) {
    constexpr std::int64_t kT = 5, kI = 3, kO = 4;
    const Floats x = random_values(kT * kI, 15), w = random_values(kO * kI, 16),
                 dy = random_values(kT * kO, 17);
    const Floats bias = random_values(kO, 18), addend = random_values(kT * kO, 19);
    Floats y(kT * kO), dx(kT * kI, 1), dw(kO * kI, 1), db(kO, 1);
    gemm_forward({.m = kT, .n = kO, .k = kI, .bias = true, .addend = true}, x.data(), w.data(), bias.data(),
                 addend.data(), y.data());
    gemm_data_gradient({.m = kT, .n = kI, .k = kO, .accumulate = true}, dy.data(), w.data(), dx.data());
    gemm_weight_gradient({.m = kO, .n = kI, .k = kT, .accumulate = true, .bias = true}, dy.data(), x.data(),
                         dw.data(), db.data());
    const auto sum = [](int n, const auto& term) {
        double total = 0;
        for (int i = 0; i < n; ++i) total += static_cast<double>(term(i));
        return total;
    };
    EXPECT_NEAR(y[2 * kO + 1],
                sum(kI, [&](int i) { return x[2 * kI + i] * w[kI + i]; }) + bias[1] + addend[2 * kO + 1],
                1e-6);
    EXPECT_NEAR(dx[2 * kI + 1], 1 + sum(kO, [&](int o) { return dy[2 * kO + o] * w[o * kI + 1]; }), 1e-6);
    EXPECT_NEAR(dw[2 * kI + 1], 1 + sum(kT, [&](int t) { return dy[t * kO + 2] * x[t * kI + 1]; }), 1e-6);
    EXPECT_NEAR(db[2], 1 + sum(kT, [&](int t) { return dy[t * kO + 2]; }), 1e-6);
}

TEST(UpdateKernel, FirstStepMovesByTheLearningRate) {
    // With bias correction the first step is lr x sign(g) whatever the betas; decay is decoupled.
    Floats p{1, -2}, m(2), v(2);
    const Floats g{0.5F, -0.01F};
    adamw({.learning_rate = 0.1, .epsilon = 0, .weight_decay = 0.5}, 1,
          {.count = 2, .gradient = g.data(), .parameter = p.data(), .first = m.data(), .second = v.data()});
    EXPECT_NEAR(p[0], 1 * 0.95 - 0.1, 1e-6);
    EXPECT_NEAR(p[1], -2 * 0.95 + 0.1, 1e-6);
    EXPECT_NEAR(clip_factor(16, 1), 0.25, 1e-6);
    EXPECT_EQ(clip_factor(0.25F, 1), 1);
}

}  // namespace
}  // namespace wirewise
