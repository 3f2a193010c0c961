#include <algorithm>

#include "executor/host/binding.hpp"
#include "executor/host/kernels/activation.hpp"
#include "executor/host/kernels/loss.hpp"
#include "executor/host/kernels/norm.hpp"
#include "executor/host/kernels/update.hpp"
#include "executor/training/kernel_rules.hpp"
#include "executor/training/operand_reader.hpp"

namespace wirewise {

using namespace host;

namespace {

void clear_unless_added(const Values& values) {
    if (!values.adds) std::fill_n(values.data, values.count, 0.0F);
}

class PointwiseBinder {
  public:
    PointwiseBinder(const RankBinding& binding, const Op& op, const std::vector<Values>& operands)
        : binding_(binding), op_(op), operands_(operands), read_(operands) {}

    Work bind(const Pointwise& kernel) { return bind_by_kind(*this, kernel); }

    Work embedding(const Pointwise& kernel) {
        const Values tokens = read_.next();
        if (kernel.kind == PointwiseKind::embedding_forward) {
            const Values table = read_.next(), x = read_.next();
            return [=] {
                host::embedding_forward(tokens.integers, kernel.rows, kernel.columns, table.data, x.data);
            };
        }
        const Values dx = read_.next(), gradient = read_.next();
        return [=] {
            host::embedding_backward(tokens.integers, kernel.rows, kernel.columns, dx.data, gradient.data);
        };
    }

    // Learned positions: one row of the table per place in the sequence.
    Work positions(const Pointwise& kernel) {
        const Values first = read_.next(), second = read_.next();
        const bool backward = kernel.kind == PointwiseKind::position_backward;
        const std::int64_t period = binding_.plan.sequence_length * binding_.model.hidden;
        const Values x = first, table = second;
        return [=] {
            for (std::int64_t i = 0; i < x.count; ++i)
                if (backward)
                    table.data[i % period] += x.data[i];
                else
                    x.data[i] += table.data[i % period];
        };
    }

    Work norm(const Pointwise& kernel) {
        const NormShape shape = norm_shape(kernel);
        const Values x = read_.next();
        const Values weight = read_.next_if(operands_.size() > 3), bias = read_.next_if(operands_.size() > 4);
        const Values first = read_.next(), second = read_.next();
        if (kernel.kind == PointwiseKind::norm_recompute)
            return
                [=] { host::norm_recompute(shape, x.data, weight.data, bias.data, first.data, second.data); };
        return [=] { host::norm_forward(shape, x.data, weight.data, bias.data, first.data, second.data); };
    }

    Work backward_of_norm(const Pointwise& kernel) {
        const NormShape shape = norm_shape(kernel);
        const bool weighted = operands_.size() > 4, biased = operands_.size() > 6;
        const Values dy = read_.next(), x = read_.next();
        const Values weight = read_.next_if(weighted);
        read_.next_if(biased);
        const Values statistics = read_.next(), dx = read_.next();
        const Values dweight = read_.next_if(weighted), dbias = read_.next_if(biased);
        return [=] {
            for (const Values& sum : {dx, dweight, dbias}) clear_unless_added(sum);
            host::norm_backward(shape, dy.data, x.data, weight.data, statistics.data, dx.data, dweight.data,
                                dbias.data);
        };
    }

    Work rotate(const Pointwise& kernel) {
        const AttentionShape& dims = attention_of(binding_.model, op_);
        const Values values = read_.next();
        const RopeShape shape{.rows = kernel.rows,
                              .stride = values.count / kernel.rows,
                              .heads = dims.heads + dims.kv_heads,
                              .head_dim = dims.head_dim,
                              .sequence = binding_.plan.sequence_length};
        const bool backward = kernel.kind == PointwiseKind::rope_backward;
        return [=, &table = binding_.rope] { rope(shape, table, backward, values.data); };
    }

    Work head_norm(const Pointwise& kernel) {
        const AttentionShape& dims = attention_of(binding_.model, op_);
        const HeadNormShape shape{kernel.rows, dims.heads, dims.kv_heads, dims.head_dim, epsilon()};
        const Values first = read_.next(), second = read_.next(), third = read_.next(), fourth = read_.next();
        const auto stride = [&](const Values& values) { return values.count / kernel.rows; };
        if (kernel.kind == PointwiseKind::head_norm_forward)
            return [=, x_stride = stride(first), y_stride = stride(third)] {
                head_norm_forward(shape, first.data, x_stride, second.data, third.data, y_stride,
                                  fourth.data);
            };
        const Values dweight = read_.next();
        return [=, g_stride = stride(first), x_stride = stride(second)] {
            clear_unless_added(dweight);
            head_norm_backward(shape, first.data, g_stride, second.data, x_stride, third.data, fourth.data,
                               dweight.data);
        };
    }

    Work activation(const Pointwise& kernel) {
        const ActivationShape shape{kernel.rows, kernel.columns, kernel.activation, kernel.gated};
        const Values first = read_.next(), second = read_.next();
        if (kernel.kind == PointwiseKind::activation_forward)
            return [=] { host::activation_forward(shape, first.data, second.data); };
        return [=] { host::activation_backward(shape, first.data, second.data); };
    }

    Work loss(const Pointwise& kernel) {
        const Values logits = read_.next(), targets = read_.next(), sum = read_.next();
        const float scale = loss_share(binding_.plan);
        const bool gradient = kernel.kind == PointwiseKind::cross_entropy;
        return [=] {
            cross_entropy(logits.data, targets.integers, kernel.rows, kernel.columns, scale, gradient,
                          sum.data);
        };
    }

    Work norm_of_gradients(const Pointwise& kernel) {
        const Values from = read_.next(), to = read_.next();
        if (kernel.kind == PointwiseKind::squared_norm)
            return [=] { *to.data += static_cast<float>(squared_norm(from.data, from.count)); };
        return [=, &numbers = binding_.numbers] {
            *to.data = clip_factor(*from.data, numbers.max_gradient_norm);
        };
    }

    Work elementwise(const Pointwise& kernel) {
        const Values a = read_.next();
        const Values b = read_.next_if(kernel.kind != PointwiseKind::fill_zero);
        const Values c = read_.next_if(kernel.kind == PointwiseKind::add);
        switch (kernel.kind) {
            case PointwiseKind::fill_zero:
                return [=] { std::fill_n(a.data, a.count, 0.0F); };
            case PointwiseKind::accumulate:
                return [=] {
                    for (std::int64_t i = 0; i < b.count; ++i) b.data[i] += a.data[i];
                };
            case PointwiseKind::add:
                return [=] {
                    for (std::int64_t i = 0; i < c.count; ++i) c.data[i] = a.data[i] + b.data[i];
                };
            case PointwiseKind::scale:
                return [=] {
                    for (std::int64_t i = 0; i < a.count; ++i) a.data[i] *= *b.data;
                };
            default:
                return [=] { std::copy_n(a.data, b.count, b.data); };  // cast and copy
        }
    }

  private:
    float epsilon() const { return static_cast<float>(binding_.model.norm_epsilon); }
    NormShape norm_shape(const Pointwise& kernel) const {
        return {kernel.rows, kernel.columns, binding_.model.norm != NormKind::rms, epsilon()};
    }

    const RankBinding& binding_;
    const Op& op_;
    const std::vector<Values>& operands_;
    OperandReader<Values> read_;
};

}  // namespace

Work bind_pointwise(const RankBinding& binding, const Op& op, const Pointwise& kernel,
                    const std::vector<Values>& operands) {
    return PointwiseBinder(binding, op, operands).bind(kernel);
}

}  // namespace wirewise
