#include "executor/training/kernel_rules.hpp"

namespace wirewise {

const AttentionShape& attention_of(const Transformer& model, const Op& op) {
    ensure(op.name.layer >= 0 && op.name.layer < model.layer_count(),
           "a kernel of attention belongs to a layer");
    return model.layer(op.name.layer).attention;
}

float loss_share(const ParallelPlan& plan) {
    const std::int64_t predictions =
        plan.gradient_accumulation * plan.micro_batch * (plan.sequence_length - 1);
    return 1.0F / static_cast<float>(predictions);
}

void require_adamw(const OptimizerUpdate& update) {
    if (update.kind == OptimizerKind::adamw_fused || update.kind == OptimizerKind::adamw_foreach) return;
    throw InputError("--optimizer", std::string(name_of(update.kind)) + " is priced, not executed",
                     "run with adamw_fused");
}

RandomRounding rounding_of(const Op& op, const OptimizerUpdate& update, const ParallelPlan& plan,
                           const Hyperparameters& numbers, int shard, std::int64_t step) {
    const bool on = numbers.stochastic_rounding && update.parameter == DType::bf16 && !update.master;
    if (!on) return {};
    const auto unit = static_cast<std::uint64_t>(op.name.layer + 1);
    const std::int64_t before = sharding_of(plan.strategy).optimizer ? shard * update.count : 0;
    return {.on = true,
            .stream = random_bits(random_bits(plan.seed, static_cast<std::uint64_t>(step)), unit),
            .first = static_cast<std::uint64_t>(before)};
}

PackedWidths packed_widths(const Attention& shape) {
    return {shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim};
}

std::int64_t row_stride(std::int64_t count, const Attention& shape) {
    return count / (shape.batch * shape.sequence);
}

}  // namespace wirewise
