#include "executor/cuda/binding.hpp"
#include "executor/cuda/kernels/activation.hpp"
#include "executor/cuda/kernels/elementwise.hpp"
#include "executor/cuda/kernels/loss.hpp"
#include "executor/cuda/kernels/norm.hpp"
#include "executor/cuda/kernels/reduce.hpp"
#include "executor/cuda/kernels/rope.hpp"
#include "executor/training/kernel_rules.hpp"
#include "executor/training/operand_reader.hpp"

namespace wirewise::cuda {

namespace {

Sum sum_of(const Values& values) { return {values.array, values.adds}; }

class PointwiseBinder {
  public:
    PointwiseBinder(const KernelSite& site, const std::vector<Values>& operands)
        : binding_(site.binding),
          op_(site.op),
          scratch_(site.scratch),
          operands_(operands),
          read_(operands) {}

    Work bind(const Pointwise& kernel) { return bind_by_kind(*this, kernel); }

    Work embedding(const Pointwise& kernel) {
        const std::int32_t* const tokens = read_.next().integers();
        const Array first = read_.next().array, second = read_.next().array;
        const std::int64_t rows = kernel.rows, columns = kernel.columns;
        if (kernel.kind == PointwiseKind::embedding_forward)
            return
                [=](cudaStream_t stream) { embedding_forward(tokens, rows, columns, first, second, stream); };
        scratch_.need(embedding_backward_scratch(rows));
        return [=, &scratch = scratch_](cudaStream_t stream) {
            embedding_backward(tokens, rows, columns, first, second, scratch.data(), stream);
        };
    }

    // Learned positions: one row of the table per place in the sequence.
    Work positions(const Pointwise& kernel) {
        const Values x = read_.next(), table = read_.next();
        const std::int64_t period = binding_.plan.sequence_length * binding_.model.hidden;
        if (kernel.kind == PointwiseKind::position_backward)
            return [=](cudaStream_t stream) {
                position_backward(x.array, table.array, x.count, period, stream);
            };
        return [=](cudaStream_t stream) { position_add(x.array, table.array, x.count, period, stream); };
    }

    Work norm(const Pointwise& kernel) {
        const NormShape shape = norm_shape(kernel);
        const Array x = read_.next().array;
        const Array weight = read_.next_if(operands_.size() > 3).array;
        const Array bias = read_.next_if(operands_.size() > 4).array;
        const Values first = read_.next(), second = read_.next();
        if (kernel.kind == PointwiseKind::norm_recompute)
            return [=](cudaStream_t stream) {
                cuda::norm_recompute(shape, x, weight, bias, first.floats(), second.array, stream);
            };
        return [=](cudaStream_t stream) {
            cuda::norm_forward(shape, x, weight, bias, first.array, second.floats(), stream);
        };
    }

    Work backward_of_norm(const Pointwise& kernel) {
        const NormShape shape = norm_shape(kernel);
        const bool weighted = operands_.size() > 4, biased = operands_.size() > 6;
        const Array dy = read_.next().array, x = read_.next().array;
        const Array weight = read_.next_if(weighted).array;
        read_.next_if(biased);
        const float* const statistics = read_.next().floats();
        const Sum dx = sum_of(read_.next());
        const Sum dweight = sum_of(read_.next_if(weighted)), dbias = sum_of(read_.next_if(biased));
        need_floats(norm_backward_scratch(shape));
        return [=, &scratch = scratch_](cudaStream_t stream) {
            cuda::norm_backward(shape, dy, x, weight, statistics, dx, dweight, dbias, scratch.floats(),
                                stream);
        };
    }

    Work rotate(const Pointwise& kernel) {
        const AttentionShape& dims = attention_of(binding_.model, op_);
        const Values values = read_.next();
        const RopeTable table = binding_.rope;
        const RopeShape shape{.rows = kernel.rows,
                              .stride = values.count / kernel.rows,
                              .heads = dims.heads + dims.kv_heads,
                              .head_dim = dims.head_dim,
                              .sequence = binding_.plan.sequence_length,
                              .pairs = table.pairs};
        const bool backward = kernel.kind == PointwiseKind::rope_backward;
        return [=](cudaStream_t stream) {
            rope(shape, table.cosine, table.sine, backward, values.array, stream);
        };
    }

    Work head_norm(const Pointwise& kernel) {
        const AttentionShape& dims = attention_of(binding_.model, op_);
        const HeadNormShape shape{kernel.rows, dims.heads, dims.kv_heads, dims.head_dim, epsilon()};
        const Values first = read_.next(), second = read_.next(), third = read_.next(), fourth = read_.next();
        const auto stride = [&](const Values& values) { return values.count / kernel.rows; };
        if (kernel.kind == PointwiseKind::head_norm_forward)
            return [=, x_stride = stride(first), y_stride = stride(third)](cudaStream_t stream) {
                head_norm_forward(shape, first.array, x_stride, second.array, third.array, y_stride,
                                  fourth.floats(), stream);
            };
        const Sum dweight = sum_of(read_.next());
        need_floats(head_norm_backward_scratch(shape));
        return [=, g_stride = stride(first), x_stride = stride(second),
                &scratch = scratch_](cudaStream_t stream) {
            head_norm_backward(shape, first.array, g_stride, second.array, x_stride, third.array,
                               fourth.floats(), dweight, scratch.floats(), stream);
        };
    }

    Work activation(const Pointwise& kernel) {
        const ActivationShape shape{kernel.rows, kernel.columns, kernel.activation, kernel.gated};
        const Array first = read_.next().array, second = read_.next().array;
        if (kernel.kind == PointwiseKind::activation_forward)
            return [=](cudaStream_t stream) { cuda::activation_forward(shape, first, second, stream); };
        return [=](cudaStream_t stream) { cuda::activation_backward(shape, first, second, stream); };
    }

    Work loss(const Pointwise& kernel) {
        const Values logits = read_.next(), targets = read_.next(), sum = read_.next();
        const float share = loss_share(binding_.plan);
        const bool gradient = kernel.kind == PointwiseKind::cross_entropy;
        need_floats(cross_entropy_scratch(kernel.rows));
        return [=, rows = kernel.rows, columns = kernel.columns, &scratch = scratch_](cudaStream_t stream) {
            cross_entropy(logits.array, targets.integers(), rows, columns, share, gradient, sum.floats(),
                          scratch.floats(), stream);
        };
    }

    Work norm_of_gradients(const Pointwise& kernel) {
        const Values from = read_.next(), to = read_.next();
        if (kernel.kind == PointwiseKind::clip_scale)
            return [=, &numbers = binding_.numbers](cudaStream_t stream) {
                clip_factor(from.floats(), numbers.max_gradient_norm, to.floats(), stream);
            };
        scratch_.need(squared_norm_scratch());
        return [=, &scratch = scratch_](cudaStream_t stream) {
            squared_norm(from.array, from.count, to.floats(), scratch.data(), stream);
        };
    }

    Work elementwise(const Pointwise& kernel) {
        const Values a = read_.next();
        const Values b = read_.next_if(kernel.kind != PointwiseKind::fill_zero);
        const Values c = read_.next_if(kernel.kind == PointwiseKind::add);
        switch (kernel.kind) {
            case PointwiseKind::fill_zero:
                return [=](cudaStream_t stream) { cuda::fill_zero(a.array, a.count, stream); };
            case PointwiseKind::accumulate:
                return [=](cudaStream_t stream) { cuda::accumulate(a.array, b.array, b.count, stream); };
            case PointwiseKind::add:
                return [=](cudaStream_t stream) { cuda::add(a.array, b.array, c.array, c.count, stream); };
            case PointwiseKind::scale:
                return [=](cudaStream_t stream) { cuda::scale(a.array, b.floats(), a.count, stream); };
            default:  // cast and copy
                return [=](cudaStream_t stream) { cuda::cast(a.array, b.array, b.count, stream); };
        }
    }

  private:
    float epsilon() const { return static_cast<float>(binding_.model.norm_epsilon); }
    NormShape norm_shape(const Pointwise& kernel) const {
        return {kernel.rows, kernel.columns, binding_.model.norm != NormKind::rms, epsilon()};
    }
    void need_floats(std::int64_t count) { scratch_.need(count * size_of(DType::fp32)); }

    const RankBinding& binding_;
    const Op& op_;
    Scratch& scratch_;
    const std::vector<Values>& operands_;
    OperandReader<Values> read_;
};

}  // namespace

Work bind_pointwise(const KernelSite& site, const Pointwise& kernel, const std::vector<Values>& operands) {
    return PointwiseBinder(site, operands).bind(kernel);
}

}  // namespace wirewise::cuda
