// What every backend must read out of a kernel alike, so that host and GPU compute the same step.
#pragma once

#include "executor/training/hyperparameters.hpp"
#include "executor/training/random.hpp"
#include "model/program/program.hpp"
#include "model/strategy/plan.hpp"
#include "model/transformer/transformer.hpp"
#include "model/units/error.hpp"

namespace wirewise {

// Hands a pointwise kernel to the member of `binder` that binds its kind. Throws InputError for kernels that
// only other runtimes have.
template <class Binder>
auto bind_by_kind(Binder& binder, const Pointwise& kernel) {
    switch (kernel.kind) {
        case PointwiseKind::embedding_forward:
        case PointwiseKind::embedding_backward:
            return binder.embedding(kernel);
        case PointwiseKind::position_add:
        case PointwiseKind::position_backward:
            return binder.positions(kernel);
        case PointwiseKind::norm_forward:
        case PointwiseKind::norm_recompute:
            return binder.norm(kernel);
        case PointwiseKind::norm_backward:
            return binder.backward_of_norm(kernel);
        case PointwiseKind::rope_forward:
        case PointwiseKind::rope_backward:
            return binder.rotate(kernel);
        case PointwiseKind::head_norm_forward:
        case PointwiseKind::head_norm_backward:
            return binder.head_norm(kernel);
        case PointwiseKind::activation_forward:
        case PointwiseKind::activation_backward:
            return binder.activation(kernel);
        case PointwiseKind::cross_entropy:
        case PointwiseKind::cross_entropy_forward:
            return binder.loss(kernel);
        case PointwiseKind::squared_norm:
        case PointwiseKind::clip_scale:
            return binder.norm_of_gradients(kernel);
        case PointwiseKind::add:
        case PointwiseKind::cast:
        case PointwiseKind::copy:
        case PointwiseKind::fill_zero:
        case PointwiseKind::accumulate:
        case PointwiseKind::scale:
            return binder.elementwise(kernel);
        case PointwiseKind::eager:
            break;
    }
    throw InputError("--runtime", "its kernels are priced, not executed", "run the native runtime");
}

// The attention of the op's layer.
const AttentionShape& attention_of(const Transformer& model, const Op& op);

// Every sequence predicts all its tokens but the first; a step's loss is the mean over all of them, so that a
// rank's micro-batch counts for its share of the rank's sum and ranks are averaged.
float loss_share(const ParallelPlan& plan);

// Throws InputError for an optimizer that is priced, not executed.
void require_adamw(const OptimizerUpdate& update);

// How an update of this op rounds in that step; `shard`: this rank's place among those that share a copy.
RandomRounding rounding_of(const Op& op, const OptimizerUpdate& update, const ParallelPlan& plan,
                           const Hyperparameters& numbers, int shard, std::int64_t step);

// Elements from the start of a packed row of queries, keys and values.
struct PackedWidths {
    std::int64_t query = 0, key = 0;
    std::int64_t values_at() const { return query + key; }
};
PackedWidths packed_widths(const Attention& shape);
// From one token's row to the next, in elements, where `count` elements hold all tokens.
std::int64_t row_stride(std::int64_t count, const Attention& shape);

}  // namespace wirewise
