#include "executor/host/binding.hpp"
#include "executor/host/kernels/attention.hpp"
#include "executor/host/kernels/gemm.hpp"
#include "executor/host/kernels/update.hpp"
#include "executor/training/kernel_rules.hpp"
#include "executor/training/operand_reader.hpp"

namespace wirewise {

using namespace host;

namespace {

class KernelBinder {
  public:
    KernelBinder(const RankBinding& binding, const Op& op, const std::vector<Values>& operands,
                 float* scratch)
        : binding_(binding), op_(op), operands_(operands), read_(operands), scratch_(scratch) {}

    Work operator()(const Gemm& gemm) {
        switch (gemm.layout) {
            case GemmLayout::forward:
                return forward(gemm);
            case GemmLayout::data_gradient: {
                const Values dy = read_.next(), weight = read_.next(), dx = read_.next();
                return [=] { gemm_data_gradient(gemm, dy.data, weight.data, dx.data); };
            }
            case GemmLayout::weight_gradient: {
                const Values dy = read_.next(), x = read_.next(), gradient = read_.next();
                const Values bias = read_.next_if(gemm.bias);
                return [=] { gemm_weight_gradient(gemm, dy.data, x.data, gradient.data, bias.data); };
            }
        }
        return {};
    }

    Work operator()(const Attention& shape) {
        const Values rotated = read_.next(), projected = read_.next();
        const AttentionInputs inputs = attention_inputs(shape, rotated, projected);
        float* const scratch = scratch_;
        if (!shape.backward) {
            const Values output = read_.next(), log_sum_exp = read_.next();
            return [=] { attention_forward(shape, inputs, output.data, log_sum_exp.data, scratch); };
        }
        const Values output = read_.next(), log_sum_exp = read_.next(), doutput = read_.next();
        const Values gradient = read_.next();
        const AttentionGradients gradients{.query = gradient.data,
                                           .key = gradient.data + packed_widths(shape).query,
                                           .value = gradient.data + packed_widths(shape).values_at(),
                                           .stride = row_stride(gradient.count, shape)};
        return [=] {
            attention_backward(shape, inputs, output.data, log_sum_exp.data, doutput.data, gradients,
                               scratch);
        };
    }

    Work operator()(const Pointwise& kernel) { return bind_pointwise(binding_, op_, kernel, operands_); }

    Work operator()(const OptimizerUpdate& update) {
        require_adamw(update);
        AdamWOperands values{.count = update.count};
        values.gradient = read_.next().data;
        values.parameter = read_.next().data;
        values.first = read_.next().data;
        values.second = read_.next().data;
        values.master = read_.next_if(update.master).data;
        values.clip_factor = read_.next_if(read_.left() > 0).data;
        const int shard = binding_.groups.along(Axis::shard).member();
        return [values, update, shard, &op = op_, &plan = binding_.plan, &numbers = binding_.numbers,
                &step = binding_.step]() mutable {
            values.rounding = rounding_of(op, update, plan, numbers, shard, step);
            adamw(numbers, step, values);
        };
    }

  private:
    static AttentionInputs attention_inputs(const Attention& shape, const Values& rotated,
                                            const Values& projected) {
        return {.query = rotated.data,
                .key = rotated.data + packed_widths(shape).query,
                .value = projected.data + packed_widths(shape).values_at(),
                .query_key_stride = row_stride(rotated.count, shape),
                .value_stride = row_stride(projected.count, shape)};
    }
    Work forward(const Gemm& gemm) {
        const Values x = read_.next(), weight = read_.next(), bias = read_.next_if(gemm.bias);
        const Values addend = read_.next_if(gemm.addend), y = read_.next();
        return [=] { gemm_forward(gemm, x.data, weight.data, bias.data, addend.data, y.data); };
    }

    const RankBinding& binding_;
    const Op& op_;
    const std::vector<Values>& operands_;
    OperandReader<Values> read_;
    float* scratch_;
};

}  // namespace

Work bind_kernel(const RankBinding& binding, const Op& op, const Kernel& kernel, std::vector<Values> operands,
                 float* scratch) {
    return std::visit(KernelBinder(binding, op, operands, scratch), kernel);
}

}  // namespace wirewise
