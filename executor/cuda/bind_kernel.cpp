#include "executor/cuda/binding.hpp"
#include "executor/cuda/kernels/reduce.hpp"
#include "executor/cuda/kernels/update.hpp"
#include "executor/training/kernel_rules.hpp"
#include "executor/training/operand_reader.hpp"
#include "model/units/error.hpp"

namespace wirewise::cuda {

namespace {

Array shifted(const Values& values, std::int64_t elements) {
    return {static_cast<std::byte*>(values.array.data) + elements * size_of(values.array.type),
            values.array.type};
}

class KernelBinder {
  public:
    KernelBinder(const KernelSite& site, const std::vector<Values>& operands)
        : site_(site), operands_(operands), read_(operands) {}

    Work operator()(const Gemm& gemm) {
        GemmOperands operands;
        operands.left = read_.next().array;
        operands.right = read_.next().array;
        const bool forward = gemm.layout == GemmLayout::forward;
        operands.bias = read_.next_if(forward && gemm.bias).array;
        operands.addend = read_.next_if(forward && gemm.addend).array;
        operands.result = read_.next().array;
        Work product = bind_product(gemm, operands);
        if (forward || !gemm.bias) return product;
        return with_bias_gradient(gemm, operands.left, read_.next(), std::move(product));
    }

    Work operator()(const Attention& shape) {
        const Values rotated = read_.next(), projected = read_.next(), output = read_.next();
        AttentionOperands operands{.inputs = inputs_of(shape, rotated, projected), .output = output.array};
        operands.log_sum_exp = read_.next().floats();
        AttentionStrides strides{operands.inputs.query_key_stride, operands.inputs.value_stride, 8};
        Values workspace;
        if (shape.backward) {
            operands.output_gradient = read_.next().array;
            operands.gradients = gradients_of(shape, read_.next());
            strides.gradient = operands.gradients.stride;
            workspace = read_.next_if(read_.left() > 0);
        }
        if (auto fused = site_.binding.libraries.attention(shape, strides))
            return fused_attention(shape, operands, std::move(fused), workspace);
        return plain_attention(shape, operands);
    }

    Work operator()(const Pointwise& kernel) { return bind_pointwise(site_, kernel, operands_); }

    Work operator()(const OptimizerUpdate& update) {
        require_adamw(update);
        AdamWOperands values{.count = update.count};
        values.gradient = read_.next().array;
        values.parameter = read_.next().array;
        values.first = read_.next().array;
        values.second = read_.next().array;
        values.master = read_.next_if(update.master).array;
        values.clip_factor = read_.next_if(read_.left() > 0).floats();
        const int shard = site_.binding.groups.member(Axis::shard);
        return [values, update, shard, &op = site_.op, &plan = site_.binding.plan,
                &numbers = site_.binding.numbers, &step = site_.binding.step](cudaStream_t stream) mutable {
            values.rounding = rounding_of(op, update, plan, numbers, shard, step);
            adamw(numbers, step, values, stream);
        };
    }

  private:
    Work bind_product(const Gemm& gemm, const GemmOperands& operands) {
        std::shared_ptr<const GemmPlan> plan = site_.binding.libraries.gemm(gemm, operands);
        if (!plan) return [=](cudaStream_t stream) { run_plain(gemm, operands, stream); };
        site_.scratch.need(static_cast<std::int64_t>(kGemmWorkspace));
        return [=, &scratch = site_.scratch](cudaStream_t stream) {
            plan->run(operands, scratch.data(), stream);
        };
    }

    Work with_bias_gradient(const Gemm& gemm, const Array& dy, const Values& bias, Work product) {
        site_.scratch.need(column_sum_scratch(gemm.k, gemm.m) * size_of(DType::fp32));
        return [=, product = std::move(product), &scratch = site_.scratch](cudaStream_t stream) {
            product(stream);
            column_sum(dy, gemm.k, gemm.m, bias.array, gemm.accumulate, scratch.floats(), stream);
        };
    }

    static AttentionInputs inputs_of(const Attention& shape, const Values& rotated, const Values& projected) {
        return {.query = rotated.array,
                .key = shifted(rotated, packed_widths(shape).query),
                .value = shifted(projected, packed_widths(shape).values_at()),
                .query_key_stride = row_stride(rotated.count, shape),
                .value_stride = row_stride(projected.count, shape)};
    }
    static AttentionGradients gradients_of(const Attention& shape, const Values& gradient) {
        return {.query = gradient.array,
                .key = shifted(gradient, packed_widths(shape).query),
                .value = shifted(gradient, packed_widths(shape).values_at()),
                .stride = row_stride(gradient.count, shape)};
    }
    static std::int64_t delta_bytes(const Attention& shape) {
        if (!shape.backward) return 0;
        constexpr std::int64_t kStep = 512;
        return (shape.batch * shape.heads * shape.sequence * size_of(DType::fp32) + kStep - 1) / kStep *
               kStep;
    }

    Work plain_attention(const Attention& shape, const AttentionOperands& to) {
        if (!shape.backward)
            return [=](cudaStream_t stream) {
                attention_forward(shape, to.inputs, to.output, to.log_sum_exp, stream);
            };
        site_.scratch.need(delta_bytes(shape));
        return [=, &scratch = site_.scratch](cudaStream_t stream) {
            attention_backward(shape, to.inputs, to.output, to.log_sum_exp, to.output_gradient, to.gradients,
                               scratch.floats(), stream);
        };
    }

    // cuDNN's workspace is the program's where that is large enough, else behind delta in the scratch.
    Work fused_attention(const Attention& shape, AttentionOperands to, std::shared_ptr<DnnAttention> fused,
                         const Values& workspace) {
        const bool planned = workspace.count * size_of(DType::fp32) >= fused->workspace();
        site_.scratch.need(delta_bytes(shape) + (planned ? 0 : fused->workspace()));
        auto bound = std::make_shared<Descriptor>();
        return [=, &scratch = site_.scratch,
                handle = site_.binding.libraries.dnn()](cudaStream_t stream) mutable {
            if (!bound->get()) {  // the scratch has its address only now
                to.delta = scratch.floats();
                void* const behind = static_cast<std::byte*>(scratch.data()) + delta_bytes(shape);
                *bound = fused->bind(to, planned ? workspace.array.data : behind);
            }
            fused->run(handle, *bound, stream);
        };
    }

    const KernelSite& site_;
    const std::vector<Values>& operands_;
    OperandReader<Values> read_;
};

}  // namespace

Work bind_kernel(const KernelSite& site, const Kernel& kernel, const std::vector<Values>& operands) {
    return std::visit(KernelBinder(site, operands), kernel);
}

}  // namespace wirewise::cuda
