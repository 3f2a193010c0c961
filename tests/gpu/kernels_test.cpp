// Every kernel against the host's on the same inputs, fp32 and bf16; outputs poisoned, guards around
// everything.
#include <cmath>

#include "executor/cuda/kernels/activation.hpp"
#include "executor/cuda/kernels/elementwise.hpp"
#include "executor/cuda/kernels/loss.hpp"
#include "executor/cuda/kernels/norm.hpp"
#include "executor/cuda/kernels/reduce.hpp"
#include "executor/cuda/kernels/rope.hpp"
#include "executor/cuda/kernels/update.hpp"
#include "executor/host/kernels/activation.hpp"
#include "executor/host/kernels/loss.hpp"
#include "executor/host/kernels/norm.hpp"
#include "executor/host/kernels/rope.hpp"
#include "executor/host/kernels/update.hpp"
#include "executor/training/seeded_weights.hpp"
#include "tests/gpu/device_values.hpp"

namespace wirewise {
namespace {

using test::DeviceValues;
using test::random_values;
using test::relative_error;
using test::rounded;
using Floats = std::vector<float>;

constexpr cudaStream_t kStream = nullptr;

class Kernels : public testing::TestWithParam<DType> {
  protected:
    void SetUp() override { WIREWISE_NEEDS_GPU(); }
    static DType type() { return GetParam(); }
    // Half a unit in the last place of the result's dtype, and what sums in another order stray in fp32.
    static double limit() { return type() == DType::fp32 ? 2e-6 : 3e-3; }
    static Floats values(std::int64_t count, std::uint64_t seed) {
        return rounded(random_values(count, seed), type());
    }
    static void expect_close(const DeviceValues& got, const Floats& expected, double factor = 1) {
        EXPECT_LE(relative_error(got.values(), expected), limit() * factor);
    }
};

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::Values(DType::fp32, DType::bf16, DType::fp16),
                         [](const auto& test) { return std::string(name_of(test.param)); });

struct NormCase {
    std::int64_t rows, columns;
    bool layer;
};
constexpr NormCase kNormCases[] = {
    {700, 4096, false}, {33, 64, true}, {5, 100, false}, {17, 1000, true}, {3, 7, true}};

TEST_P(Kernels, NormForwardAndRecompute) {
    for (const auto& [rows, columns, layer] : kNormCases) {
        const Floats x = values(rows * columns, 1), weight = values(columns, 2), bias = values(columns, 3);
        const float* const host_bias = layer ? bias.data() : nullptr;
        Floats y(x.size()), statistics(static_cast<std::size_t>(rows * (layer ? 2 : 1)));
        host::norm_forward({rows, columns, layer, 1e-5F}, x.data(), weight.data(), host_bias, y.data(),
                           statistics.data());
        const DeviceValues dx(type(), x), dw(type(), weight), db(type(), bias), dy(type(), rows * columns);
        const DeviceValues again(type(), rows * columns);
        const DeviceValues ds(DType::fp32, static_cast<std::int64_t>(statistics.size()));
        const cuda::NormShape shape{rows, columns, layer, 1e-5F};
        const cuda::Array device_bias = layer ? db.array() : cuda::Array();
        cuda::norm_forward(shape, dx.array(), dw.array(), device_bias, dy.array(), ds.floats(), kStream);
        cuda::norm_recompute(shape, dx.array(), dw.array(), device_bias, ds.floats(), again.array(), kStream);
        expect_close(dy, y);
        EXPECT_LE(relative_error(ds.values(), statistics), 1e-5);  // means are small sums of large values
        EXPECT_EQ(dy.values(), again.values());
    }
}

TEST_P(Kernels, NormBackward) {
    for (const auto& [rows, columns, layer] : kNormCases)
        for (const bool adds : {false, true}) {
            const Floats dy = values(rows * columns, 1), x = values(rows * columns, 2),
                         weight = values(columns, 3);
            Floats statistics(static_cast<std::size_t>(rows * 2));
            Floats y(x.size());
            host::norm_forward({rows, columns, layer, 1e-5F}, x.data(), weight.data(), nullptr, y.data(),
                               statistics.data());
            Floats dx = adds ? values(rows * columns, 4) : Floats(x.size());
            Floats dweight = adds ? values(columns, 5) : Floats(weight.size()), dbias = dweight;
            DeviceValues ddx(type(), rows * columns), ddw(type(), columns), ddb(type(), columns);
            if (adds) {
                ddx.set(dx);
                ddw.set(dweight);
                ddb.set(dbias);
            }
            host::norm_backward({rows, columns, layer, 1e-5F}, dy.data(), x.data(), weight.data(),
                                statistics.data(), dx.data(), dweight.data(), layer ? dbias.data() : nullptr);
            const DeviceValues ddy(type(), dy), dxx(type(), x), dw(type(), weight),
                ds(DType::fp32, statistics);
            const cuda::NormShape shape{rows, columns, layer, 1e-5F};
            const DeviceValues scratch(DType::fp32, cuda::norm_backward_scratch(shape));
            cuda::norm_backward(shape, ddy.array(), dxx.array(), dw.array(), ds.floats(), {ddx.array(), adds},
                                {ddw.array(), adds}, {layer ? ddb.array() : cuda::Array(), adds},
                                scratch.floats(), kStream);
            expect_close(ddx, dx);
            expect_close(ddw, dweight, 3);
            if (layer) expect_close(ddb, dbias, 3);
        }
}

TEST_P(Kernels, HeadNorm) {
    for (const std::int64_t d : {128, 16, 20}) {
        const std::int64_t rows = 37, heads = 6, kv = 2, x_stride = (heads + 2 * kv) * d,
                           y_stride = (heads + kv) * d;
        const host::HeadNormShape host_shape{rows, heads, kv, d, 1e-6F};
        const cuda::HeadNormShape shape{rows, heads, kv, d, 1e-6F};
        const Floats x = values(rows * x_stride, 1), weight = values(2 * d, 2);
        Floats y(static_cast<std::size_t>(rows * y_stride)),
            statistics(static_cast<std::size_t>(rows * (heads + kv)));
        host::head_norm_forward(host_shape, x.data(), x_stride, weight.data(), y.data(), y_stride,
                                statistics.data());
        const DeviceValues dx(type(), x), dw(type(), weight), dy(type(), rows * y_stride);
        const DeviceValues ds(DType::fp32, rows * (heads + kv));
        cuda::head_norm_forward(shape, dx.array(), x_stride, dw.array(), dy.array(), y_stride, ds.floats(),
                                kStream);
        expect_close(dy, y);
        EXPECT_LE(relative_error(ds.values(), statistics), 1e-5);  // means are small sums of large values

        Floats gradient = values(rows * x_stride, 3), dweight = values(2 * d, 4);
        const DeviceValues dg(type(), gradient), ddw(type(), dweight);
        host::head_norm_backward(host_shape, gradient.data(), x_stride, x.data(), x_stride, weight.data(),
                                 statistics.data(), dweight.data());
        const DeviceValues scratch(DType::fp32, cuda::head_norm_backward_scratch(shape));
        cuda::head_norm_backward(shape, dg.array(), x_stride, dx.array(), x_stride, dw.array(), ds.floats(),
                                 {ddw.array(), true}, scratch.floats(), kStream);
        expect_close(dg, gradient);
        expect_close(ddw, dweight, 3);
    }
}

TEST_P(Kernels, Rope) {
    for (const std::int64_t d : {128, 12}) {
        const std::int64_t rows = 50, heads = 5, stride = (heads + 2) * d, sequence = 25, pairs = d / 2;
        const host::RopeTable table = host::rope_table(random_values(pairs, 1), sequence);
        const DeviceValues cosine(DType::fp32, table.cosine), sine(DType::fp32, table.sine);
        for (const bool backward : {false, true}) {
            Floats x = values(rows * stride, 2);
            const DeviceValues dx(type(), x);
            host::rope({rows, stride, heads, d, sequence}, table, backward, x.data());
            cuda::rope({rows, stride, heads, d, sequence, pairs}, cosine.floats(), sine.floats(), backward,
                       dx.array(), kStream);
            expect_close(dx, x);
        }
    }
}

TEST_P(Kernels, Activation) {
    for (const auto kind : {ActivationKind::silu, ActivationKind::gelu, ActivationKind::gelu_tanh,
                            ActivationKind::relu, ActivationKind::relu_squared})
        for (const bool gated : {true, false})
            for (const std::int64_t columns : {1024, 30}) {
                const std::int64_t rows = 40, width = columns * (gated ? 2 : 1);
                Floats expanded = values(rows * width, 1), product(static_cast<std::size_t>(rows * columns));
                const Floats dproduct = values(rows * columns, 2);
                const DeviceValues de(type(), expanded), dp(type(), rows * columns), dd(type(), dproduct);
                host::activation_forward({rows, columns, kind, gated}, expanded.data(), product.data());
                cuda::activation_forward({rows, columns, kind, gated}, de.array(), dp.array(), kStream);
                expect_close(dp, product);
                host::activation_backward({rows, columns, kind, gated}, dproduct.data(), expanded.data());
                cuda::activation_backward({rows, columns, kind, gated}, dd.array(), de.array(), kStream);
                expect_close(de, expanded);
            }
}

TEST_P(Kernels, Embedding) {
    for (const std::int64_t columns : {512, 70}) {
        const std::int64_t rows = 1000, vocabulary = 50;
        std::vector<std::int32_t> tokens;
        for (std::int64_t r = 0; r < rows; ++r)
            tokens.push_back(static_cast<std::int32_t>((r * r + 7 * r) % (vocabulary - 3)));
        const Floats table = values(vocabulary * columns, 1), dx = values(rows * columns, 2);
        Floats x(static_cast<std::size_t>(rows * columns)), gradient = values(vocabulary * columns, 3);
        const DeviceValues dtokens(tokens), dtable(type(), table), dx_out(type(), rows * columns),
            ddx(type(), dx);
        const DeviceValues dgradient(type(), gradient);
        host::embedding_forward(tokens.data(), rows, columns, table.data(), x.data());
        cuda::embedding_forward(dtokens.integers(), rows, columns, dtable.array(), dx_out.array(), kStream);
        EXPECT_EQ(dx_out.values(), x);
        host::embedding_backward(tokens.data(), rows, columns, dx.data(), gradient.data());
        const DeviceValues scratch(DType::fp32, cuda::embedding_backward_scratch(rows) / 4 + 1);
        cuda::embedding_backward(dtokens.integers(), rows, columns, ddx.array(), dgradient.array(), scratch.data(),
                                 kStream);
        EXPECT_EQ(dgradient.values(), rounded(gradient, type()));  // the same sums in the same order
    }
}

TEST_P(Kernels, CrossEntropy) {
    for (const std::int64_t vocabulary : {32000, 1001, 5}) {
        const std::int64_t rows = 30;
        Floats logits = values(rows * vocabulary, 1);
        for (float& value : logits) value *= 8;
        std::vector<std::int32_t> targets;
        for (std::int64_t r = 0; r < rows; ++r)
            targets.push_back(r % 7 == 3 ? -1 : static_cast<std::int32_t>((r * 31) % vocabulary));
        const DeviceValues dtargets(targets), scratch(DType::fp32, cuda::cross_entropy_scratch(rows));
        for (const bool gradient : {false, true}) {
            Floats expected = logits;
            float loss = 1.5F;
            const DeviceValues dlogits(type(), logits), dloss(DType::fp32, Floats{loss});
            host::cross_entropy(expected.data(), targets.data(), rows, vocabulary, 0.125F, gradient, &loss);
            cuda::cross_entropy(dlogits.array(), dtargets.integers(), rows, vocabulary, 0.125F, gradient,
                                dloss.floats(), scratch.floats(), kStream);
            EXPECT_LE(relative_error(dloss.values(), {loss}), 2e-6);
            expect_close(dlogits, expected, 3);
        }
    }
}

TEST_P(Kernels, Elementwise) {
    for (const std::int64_t count : {4096, 1003, 1}) {
        const Floats a = values(count, 1), b = values(count, 2);
        const DeviceValues da(type(), a), db(type(), b), sum(type(), count), wide(DType::fp32, count);
        const DeviceValues factor(DType::fp32, Floats{0.37F}), scaled(type(), a), zero(type(), count);
        Floats expected(a.size());
        const auto expect = [&](const DeviceValues& got, auto&& each) {
            for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = each(a[i], b[i]);
            EXPECT_EQ(got.values(), rounded(expected, type()));
        };
        cuda::add(da.array(), db.array(), sum.array(), count, kStream);
        expect(sum, [](float x, float y) { return x + y; });
        cuda::cast(da.array(), wide.array(), count, kStream);
        EXPECT_EQ(wide.values(), a);
        cuda::scale(scaled.array(), factor.floats(), count, kStream);
        expect(scaled, [](float x, float) { return x * 0.37F; });
        cuda::fill_zero(zero.array(), count, kStream);
        EXPECT_EQ(zero.values(), Floats(a.size()));
        cuda::accumulate(da.array(), db.array(), count, kStream);
        expect(db, [](float x, float y) { return x + y; });
    }
}

TEST_P(Kernels, LearnedPositions) {
    const std::int64_t period = 60, count = 3 * period;
    const Floats x = values(count, 1), table = values(period, 2), dx = values(count, 3);
    const DeviceValues dtable(type(), table), out(type(), x), ddx(type(), dx), gradient(type(), table);
    cuda::position_add(out.array(), dtable.array(), count, period, kStream);
    cuda::position_backward(ddx.array(), gradient.array(), count, period, kStream);
    Floats added = x, sums = table;
    for (std::size_t i = 0; i < x.size(); ++i) {
        added[i] += table[i % table.size()];
        sums[i % table.size()] += dx[i];
    }
    EXPECT_EQ(out.values(), rounded(added, type()));
    EXPECT_EQ(gradient.values(), rounded(sums, type()));
}

TEST_P(Kernels, Sums) {
    for (const std::int64_t count : {100003, 8, 3}) {
        const Floats a = values(count, 1);
        const DeviceValues da(type(), a), total(DType::fp32, Floats{2}), factor(DType::fp32, 1);
        const DeviceValues scratch(DType::fp32, cuda::squared_norm_scratch() / 4);
        cuda::squared_norm(da.array(), count, total.floats(), scratch.data(), kStream);
        const auto expected = 2 + static_cast<float>(host::squared_norm(a.data(), count));
        EXPECT_NEAR(total.values()[0], expected, 2e-6 * static_cast<double>(expected));
        cuda::clip_factor(total.floats(), 0.5, factor.floats(), kStream);
        EXPECT_FLOAT_EQ(factor.values()[0], host::clip_factor(total.values()[0], 0.5));
    }
    const std::int64_t rows = 533, columns = 300;
    const Floats a = values(rows * columns, 1);
    Floats sums = values(columns, 2);
    const DeviceValues da(type(), a), to(type(), sums), over(type(), columns);
    const DeviceValues scratch(DType::fp32, cuda::column_sum_scratch(rows, columns));
    cuda::column_sum(da.array(), rows, columns, to.array(), true, scratch.floats(), kStream);
    for (std::size_t i = 0; i < a.size(); ++i) sums[i % sums.size()] += a[i];
    expect_close(to, sums, 2);
    cuda::column_sum(da.array(), rows, columns, over.array(), false, scratch.floats(), kStream);
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::size_t i = 0; i < a.size(); ++i) sums[i % sums.size()] += a[i];
    expect_close(over, sums, 2);
}

TEST_P(Kernels, AdamW) {
    const Hyperparameters numbers{.learning_rate = 0.01, .weight_decay = 0.1};
    for (const std::int64_t count : {4096, 1003})
        for (const bool master : {false, true}) {
            const Floats gradient = values(count, 1);
            Floats parameter = values(count, 2), first(gradient.size()), second(gradient.size());
            Floats masters = random_values(count, 3);
            const float clip = 0.5F;
            const DeviceValues dg(type(), gradient), dp(type(), parameter), dm(DType::fp32, first),
                dv(DType::fp32, second);
            const DeviceValues dmaster(DType::fp32, masters), dclip(DType::fp32, Floats{clip});
            for (const std::int64_t step : {1, 2}) {
                host::adamw(numbers, step,
                            {count, gradient.data(), parameter.data(), first.data(), second.data(),
                             master ? masters.data() : nullptr, &clip});
                parameter = rounded(parameter, type());
                cuda::AdamWOperands operands{.count = count, .gradient = dg.array(), .parameter = dp.array()};
                operands.first = dm.array();
                operands.second = dv.array();
                if (master) operands.master = dmaster.array();
                operands.clip_factor = dclip.floats();
                cuda::adamw(numbers, step, operands, kStream);
            }
            expect_close(dp, parameter);
            EXPECT_LE(relative_error(dm.values(), first), 1e-6);
            EXPECT_LE(relative_error(dv.values(), second), 1e-6);
            EXPECT_LE(relative_error(dmaster.values(), masters), 1e-6);
        }
}

TEST(Kernels, StochasticRoundingKeepsTheMean) {
    WIREWISE_NEEDS_GPU();
    const std::int64_t count = 1 << 16;
    // An update of a thirtieth of bf16's step at 1: to nearest, it would be lost.
    const Hyperparameters numbers{.learning_rate = 1.0 / 3840, .weight_decay = 0};
    const Floats ones(static_cast<std::size_t>(count), 1), zeros(ones.size());
    const DeviceValues g(DType::bf16, ones), p(DType::bf16, ones), m(DType::fp32, zeros),
        v(DType::fp32, zeros);
    cuda::AdamWOperands operands{.count = count, .gradient = g.array(), .parameter = p.array()};
    operands.first = m.array();
    operands.second = v.array();
    operands.rounding = {.on = true, .stream = 99};
    cuda::adamw(numbers, 1, operands, kStream);
    double mean = 0;
    for (const float value : p.values()) {
        EXPECT_TRUE(value == 1.0F || value == 0.99609375F) << value;
        mean += static_cast<double>(value) / static_cast<double>(count);
    }
    EXPECT_NEAR(mean, 1 - 1.0 / 3840, 5e-5);
}

TEST(Kernels, NormalValuesAreThoseOfTheHost) {
    WIREWISE_NEEDS_GPU();
    const Parameter parameter{
        .name = "w", .shape = {100, 41}, .use = ParameterUse::query, .owner = ParameterUse::query};
    const UnitTensor tensor{.name = "w", .unit = {}, .slice = {0, 4100}, .parameter = &parameter};
    const SeededWeights weights(7);
    Floats expected(4000);
    weights.read(tensor, 100, expected);
    const DeviceValues got(DType::fp32, 4000);
    const DrawnValues drawn = *weights.drawn(tensor);
    cuda::fill_normal(got.array(), 4000, drawn.deviation, drawn.stream, 100, kStream);
    EXPECT_LE(relative_error(got.values(), expected), 1e-7);
}

}  // namespace
}  // namespace wirewise
