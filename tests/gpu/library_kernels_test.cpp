// Products and attention, through the libraries and in plain CUDA, against the host's.
#include <optional>

#include "executor/cuda/dnn_attention.hpp"
#include "executor/cuda/gemm.hpp"
#include "executor/cuda/kernels/attention.hpp"
#include "executor/host/kernels/attention.hpp"
#include "executor/host/kernels/gemm.hpp"
#include "tests/gpu/device_values.hpp"

namespace wirewise {
namespace {

using test::DeviceValues;
using test::random_values;
using test::relative_error;
using test::rounded;
using Floats = std::vector<float>;

constexpr cudaStream_t kStream = nullptr;

double limit_of(DType type) { return type == DType::fp32 ? 2e-6 : 3e-3; }

struct GemmTypes {
    DType type, result;
};

class Products : public testing::TestWithParam<GemmTypes> {
  protected:
    void SetUp() override { WIREWISE_NEEDS_GPU(); }

    // cuBLASLt where it can, or plain CUDA.
    static void check(Gemm gemm, bool plain) {
        const auto [type, result] = GetParam();
        gemm.type = type;
        gemm.result = gemm.layout == GemmLayout::weight_gradient ? result : type;
        const Floats left = rounded(random_values(gemm.m * gemm.k, 1), type);
        const Floats right = rounded(random_values(gemm.n * gemm.k, 2), type);
        const Floats bias = rounded(random_values(gemm.n, 3), type);
        const Floats addend = rounded(random_values(gemm.m * gemm.n, 4), type);
        Floats expected = rounded(random_values(gemm.m * gemm.n, 5), gemm.result);
        const DeviceValues dl(type, left), dr(type, right), db(type, bias), da(type, addend);
        DeviceValues out(gemm.result, gemm.m * gemm.n);
        if (gemm.accumulate) out.set(expected);
        cuda::GemmOperands operands{dl.array(), dr.array(), {}, {}, out.array()};
        if (gemm.layout == GemmLayout::forward) {
            if (gemm.bias) operands.bias = db.array();
            if (gemm.addend) operands.addend = da.array();
            host::gemm_forward(gemm, left.data(), right.data(), gemm.bias ? bias.data() : nullptr,
                               gemm.addend ? addend.data() : nullptr, expected.data());
        } else if (gemm.layout == GemmLayout::data_gradient) {
            host::gemm_data_gradient(gemm, left.data(), right.data(), expected.data());
        } else {
            host::gemm_weight_gradient(gemm, left.data(), right.data(), expected.data(), nullptr);
        }
        run(gemm, operands, plain);
        EXPECT_LE(relative_error(out.values(), expected), limit_of(gemm.result)) << to_text(Kernel(gemm));
    }

  private:
    static void run(const Gemm& gemm, const cuda::GemmOperands& operands, bool plain) {
        if (plain) return cuda::run_plain(gemm, operands, kStream);
        const cuda::LtHandle handle = cuda::make_lt_handle();
        const cuda::DeviceMemory workspace(cuda::kGemmWorkspace);
        auto plan = cuda::GemmPlan::make(handle.get(), gemm, operands);
        ASSERT_TRUE(plan.has_value()) << to_text(Kernel(gemm));
        const bool keeps = !gemm.accumulate;  // tuning writes the result again and again
        if (keeps) plan->tune(operands, workspace.data(), kStream);
        plan->run(operands, workspace.data(), kStream);
    }
};

INSTANTIATE_TEST_SUITE_P(
    All, Products,
    testing::Values(GemmTypes{DType::fp32, DType::fp32}, GemmTypes{DType::bf16, DType::bf16},
                    GemmTypes{DType::bf16, DType::fp32}, GemmTypes{DType::fp16, DType::fp16},
                    GemmTypes{DType::fp16, DType::fp32}),
    [](const auto& test) {
        return std::string(name_of(test.param.type)) + "_" + std::string(name_of(test.param.result));
    });

TEST_P(Products, AreTheHosts) {
    for (const bool plain : {false, true})
        for (const auto& [m, n, k] :
             {std::array<std::int64_t, 3>{96, 256, 128}, {37, 24, 56}, {16, 8, 512}}) {
            for (const bool bias : {false, true})
                for (const bool addend : {false, true})
                    check({.layout = GemmLayout::forward,
                           .m = m,
                           .n = n,
                           .k = k,
                           .bias = bias,
                           .addend = addend},
                          plain);
            for (const bool accumulate : {false, true}) {
                check({.layout = GemmLayout::data_gradient, .m = m, .n = n, .k = k, .accumulate = accumulate},
                      plain);
                check(
                    {.layout = GemmLayout::weight_gradient, .m = m, .n = n, .k = k, .accumulate = accumulate},
                    plain);
            }
        }
}

TEST(PlainProducts, TakeOddShapesAndMixedDtypes) {
    WIREWISE_NEEDS_GPU();
    const Gemm gemm{.layout = GemmLayout::weight_gradient, .m = 33, .n = 17, .k = 71};
    const Floats left = random_values(33 * 71, 1), right = random_values(17 * 71, 2);
    Floats expected(33 * 17);
    host::gemm_weight_gradient(gemm, left.data(), right.data(), expected.data(), nullptr);
    const DeviceValues dl(DType::fp32, left), dr(DType::fp32, right), out(DType::bf16, 33 * 17);
    cuda::run_plain(gemm, {dl.array(), dr.array(), {}, {}, out.array()}, kStream);
    EXPECT_LE(relative_error(out.values(), expected), 3e-3);
}

// Rows of q | k | v in one matrix, as the native program lays them out without head norms.
struct AttentionCase {
    Attention shape;
    std::int64_t row() const { return (shape.heads + 2 * shape.kv_heads) * shape.head_dim; }
    std::int64_t tokens() const { return shape.batch * shape.sequence; }
    std::int64_t outputs() const { return tokens() * shape.heads * shape.head_dim; }
    std::int64_t statistics() const { return tokens() * shape.heads; }
};

struct AttentionResults {
    Floats output, gradient;
};

AttentionResults host_attention(const AttentionCase& c, const Floats& qkv, const Floats& dout, DType type) {
    const Attention& s = c.shape;
    const std::int64_t key = s.heads * s.head_dim, value = (s.heads + s.kv_heads) * s.head_dim;
    AttentionResults results{Floats(static_cast<std::size_t>(c.outputs())), Floats(qkv.size())};
    Floats lse(static_cast<std::size_t>(c.statistics()));
    Floats scratch(static_cast<std::size_t>(host::attention_scratch(s)));
    const host::AttentionInputs in{qkv.data(), qkv.data() + key, qkv.data() + value, c.row(), c.row()};
    host::attention_forward(s, in, results.output.data(), lse.data(), scratch.data());
    results.output = rounded(results.output, type);
    float* const d = results.gradient.data();
    host::attention_backward(s, in, results.output.data(), lse.data(), dout.data(),
                             {d, d + key, d + value, c.row()}, scratch.data());
    return results;
}

cuda::Array at(const DeviceValues& values, std::int64_t element) {
    const cuda::Array all = values.array();
    return {static_cast<std::byte*>(all.data) + element * size_of(all.type), all.type};
}

class AttentionKernels : public testing::Test {
  protected:
    void SetUp() override { WIREWISE_NEEDS_GPU(); }

    void check(AttentionCase c, DType type, bool fused) {
        c.shape.type = type;
        SCOPED_TRACE(to_text(Kernel(c.shape)) + (fused ? " cuDNN" : " plain") + ", window " +
                     std::to_string(c.shape.window));
        const Floats qkv = rounded(random_values(c.tokens() * c.row(), 1), type);
        const Floats dout = rounded(random_values(c.outputs(), 2), type);
        const AttentionResults expected = host_attention(c, qkv, dout, type);
        const DeviceValues dqkv_in(type, qkv), ddout(type, dout), out(type, c.outputs());
        const DeviceValues gradient(type, c.tokens() * c.row()), lse(DType::fp32, c.statistics());
        const DeviceValues delta(DType::fp32, c.statistics());
        const std::int64_t key = c.shape.heads * c.shape.head_dim;
        const std::int64_t value = key + c.shape.kv_heads * c.shape.head_dim;
        cuda::AttentionOperands operands{
            .inputs = {at(dqkv_in, 0), at(dqkv_in, key), at(dqkv_in, value), c.row(), c.row()},
            .output = out.array()};
        operands.log_sum_exp = lse.floats();
        operands.output_gradient = ddout.array();
        operands.gradients = {at(gradient, 0), at(gradient, key), at(gradient, value), c.row()};
        operands.delta = delta.floats();
        if (fused)
            run_fused(c.shape, operands);
        else
            run_plain(c.shape, operands);
        const double limit = type == DType::fp32 ? 1e-5 : 8e-3;
        EXPECT_LE(relative_error(out.values(), expected.output), limit);
        EXPECT_LE(relative_error(gradient.values(), expected.gradient), limit);
    }

  private:
    static void run_plain(Attention shape, const cuda::AttentionOperands& to) {
        cuda::attention_forward(shape, to.inputs, to.output, to.log_sum_exp, kStream);
        cuda::attention_backward(shape, to.inputs, to.output, to.log_sum_exp, to.output_gradient,
                                 to.gradients, to.delta, kStream);
    }
    static void run_fused(Attention shape, const cuda::AttentionOperands& to) {
        const cuda::DnnHandle handle = cuda::make_dnn_handle();
        const std::int64_t row = to.inputs.query_key_stride;
        for (const bool backward : {false, true}) {
            shape.backward = backward;
            auto attention = cuda::DnnAttention::make(handle.get(), shape, {row, row, row});
            ASSERT_TRUE(attention.has_value());
            const DeviceValues workspace(DType::fp32, (attention->workspace() + 3) / 4);
            const cuda::Descriptor bound = attention->bind(to, workspace.data());
            attention->run(handle.get(), bound, kStream);
            cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        }
    }
};

AttentionCase attention_case(std::int64_t batch, std::int64_t sequence, std::int64_t heads, std::int64_t kv,
                             std::int64_t d, std::int64_t window) {
    return {{.batch = batch,
             .sequence = sequence,
             .heads = heads,
             .kv_heads = kv,
             .head_dim = d,
             .value_head_dim = d,
             .window = window}};
}

TEST_F(AttentionKernels, Plain) {
    for (const DType type : {DType::fp32, DType::bf16}) {
        check(attention_case(2, 70, 4, 2, 16, 0), type, false);
        check(attention_case(1, 130, 3, 3, 128, 0), type, false);
        check(attention_case(2, 50, 6, 2, 20, 7), type, false);
        check(attention_case(1, 33, 2, 1, 256, 0), type, false);
    }
}

TEST_F(AttentionKernels, Fused) {
    for (const DType type : {DType::bf16, DType::fp16}) {
        check(attention_case(2, 256, 8, 2, 128, 0), type, true);
        check(attention_case(1, 100, 4, 4, 64, 0), type, true);
        check(attention_case(2, 64, 4, 2, 16, 0), type, true);
        check(attention_case(1, 33, 6, 3, 64, 0), type, true);
        check(attention_case(2, 256, 8, 2, 128, 50), type, true);
        check(attention_case(1, 200, 4, 1, 64, 16), type, true);
    }
}

}  // namespace
}  // namespace wirewise
