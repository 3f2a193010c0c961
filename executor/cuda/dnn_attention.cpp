#include "executor/cuda/dnn_attention.hpp"

#include <cmath>
#include <limits>

namespace wirewise::cuda {

namespace {

// The last two dimensions exchanged: nothing moves.
Dimensions flipped(Dimensions d) {
    std::swap(d[2], d[3]);
    return d;
}

bool has_kernel(const Attention& shape) {
    return (shape.type == DType::bf16 || shape.type == DType::fp16) &&
           shape.head_dim == shape.value_head_dim && shape.head_dim % 8 == 0 &&
           shape.heads % shape.kv_heads == 0;
}

bool aligned(AttentionStrides strides) {
    return strides.query_key % 8 == 0 && strides.value % 8 == 0 && strides.gradient % 8 == 0;
}

std::int64_t rounded_up(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

// The order of operations is part of the pattern by which cuDNN finds its kernel. k, and v in the backward,
// are given transposed.
void DnnAttention::declare_inputs(DnnGraph& graph, bool value_transposed) {
    const Dimensions key = heads(shape_.kv_heads), value_rows = rows(strides_.value);
    at_.q = graph.tensor(heads(shape_.heads), rows(strides_.query_key), type());
    at_.k = graph.tensor(flipped(key), flipped(rows(strides_.query_key)), type());
    at_.v = value_transposed ? graph.tensor(flipped(key), flipped(value_rows), type())
                             : graph.tensor(key, value_rows, type());
    at_.o = graph.tensor(heads(shape_.heads), rows(shape_.heads * shape_.head_dim), type());
}

// Lowest where the key lies after the query, or before its window.
TensorId DnnAttention::masked(DnnGraph& graph, TensorId values) {
    const auto index = [&](TensorId of, std::int64_t axis) {
        const TensorId made = graph.intermediate(scores(), CUDNN_DATA_INT32);
        graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, {of}, made, CUDNN_DATA_FLOAT, axis);
        return made;
    };
    const auto keep_where = [&](TensorId of, cudnnPointwiseMode_t comparison, TensorId a, TensorId b) {
        const TensorId kept = graph.intermediate(scores(), CUDNN_DATA_BOOLEAN);
        const TensorId result = graph.intermediate(scores());
        graph.pointwise(comparison, {a, b}, kept, CUDNN_DATA_BOOLEAN);
        graph.pointwise(CUDNN_POINTWISE_BINARY_SELECT, {of, at_.lowest, kept}, result);
        return result;
    };
    const TensorId row = index(values, 2), column = index(values, 3);
    const TensorId causal = keep_where(values, CUDNN_POINTWISE_CMP_GE, row, column);
    if (shape_.window == 0) return causal;
    const TensorId near_row = index(causal, 2), near_column = index(causal, 3);
    const TensorId reach = graph.intermediate(scores(), CUDNN_DATA_INT32);
    at_.window = graph.scalar(CUDNN_DATA_INT32);
    graph.pointwise(CUDNN_POINTWISE_ADD, {near_column, at_.window}, reach, CUDNN_DATA_INT32);
    return keep_where(causal, CUDNN_POINTWISE_CMP_GT, reach, near_row);
}

DnnGraph DnnAttention::forward_graph() {
    DnnGraph graph;
    declare_inputs(graph, false);
    const Dimensions one_each = per_query();
    at_.statistics = graph.tensor(one_each, {one_each[1] * one_each[2], one_each[2], 1, 1}, CUDNN_DATA_FLOAT);
    at_.scale = graph.scalar();
    at_.lowest = graph.scalar();
    const TensorId product = graph.intermediate(scores()), scaled = graph.intermediate(scores());
    graph.matmul(at_.q, at_.k, product);
    graph.pointwise(CUDNN_POINTWISE_MUL, {product, at_.scale}, scaled);
    const TensorId seen = masked(graph, scaled);
    const TensorId highest = graph.intermediate(one_each), shifted = graph.intermediate(scores());
    const TensorId exponentials = graph.intermediate(scores()), sum = graph.intermediate(one_each);
    graph.reduce(CUDNN_REDUCE_TENSOR_MAX, seen, highest);
    graph.pointwise(CUDNN_POINTWISE_SUB, {seen, highest}, shifted);
    graph.pointwise(CUDNN_POINTWISE_EXP, {shifted}, exponentials);
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, exponentials, sum);
    const TensorId logarithm = graph.intermediate(one_each), weights = graph.intermediate(scores(), type());
    graph.pointwise(CUDNN_POINTWISE_LOG, {sum}, logarithm);
    graph.pointwise(CUDNN_POINTWISE_ADD, {highest, logarithm}, at_.statistics);
    graph.pointwise(CUDNN_POINTWISE_DIV, {exponentials, sum}, weights);
    graph.matmul(weights, at_.v, at_.o);
    return graph;
}

TensorId DnnAttention::transposed(DnnGraph& graph, TensorId values) {
    const std::int64_t s = shape_.sequence;
    const TensorId result = graph.intermediate(scores(), {shape_.heads * s * s, s * s, 1, s}, type());
    graph.reshape(values, result);
    return result;
}

// Query heads that share a key head add up.
void DnnAttention::sum_over_group(DnnGraph& graph, TensorId a, TensorId b, TensorId to) {
    if (shape_.heads == shape_.kv_heads) return graph.matmul(a, b, to);
    const TensorId each = graph.intermediate(heads(shape_.heads), type());
    graph.matmul(a, b, each);
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, each, to);
}

DnnGraph DnnAttention::backward_graph() {
    DnnGraph graph;
    declare_inputs(graph, true);
    const Dimensions each = heads(shape_.heads), one_each = per_query();
    const Dimensions packed{one_each[1] * one_each[2], one_each[2], 1, 1};
    at_.dout = graph.tensor(each, rows(shape_.heads * shape_.head_dim), type());
    at_.statistics = graph.tensor(one_each, packed, CUDNN_DATA_FLOAT);
    at_.dq = graph.tensor(each, rows(strides_.gradient), type());
    at_.dk = graph.tensor(heads(shape_.kv_heads), rows(strides_.gradient), type());
    at_.dv = graph.tensor(heads(shape_.kv_heads), rows(strides_.gradient), type());
    at_.scale = graph.scalar();
    at_.lowest = graph.scalar();
    at_.one = graph.scalar();
    // delta: the sum over the head's columns of do x o.
    const std::int64_t s = shape_.sequence, d = shape_.head_dim, h = shape_.heads;
    const TensorId products = graph.intermediate(each, {h * s * d, s * d, h * d, 1}, CUDNN_DATA_FLOAT);
    const TensorId sums = graph.intermediate(one_each);
    at_.delta = graph.tensor(one_each, packed, CUDNN_DATA_FLOAT);
    graph.pointwise(CUDNN_POINTWISE_MUL, {at_.dout, at_.o}, products);
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
    graph.pointwise(CUDNN_POINTWISE_MUL, {sums, at_.one}, at_.delta);
    // p = exp(scale q k^T - statistics); dv = p^T do.
    const auto fresh = [&] { return graph.intermediate(scores()); };
    const TensorId product = fresh(), scaled = fresh(), shifted = fresh(), weights = fresh();
    graph.matmul(at_.q, at_.k, product);
    graph.pointwise(CUDNN_POINTWISE_MUL, {product, at_.scale}, scaled);
    graph.pointwise(CUDNN_POINTWISE_SUB, {scaled, at_.statistics}, shifted);
    graph.pointwise(CUDNN_POINTWISE_EXP, {masked(graph, shifted)}, weights);
    sum_over_group(graph, transposed(graph, weights), at_.dout, at_.dv);
    // ds = scale p (do v^T - delta); dk = ds^T q; dq = ds k.
    const TensorId dweights = fresh(), centred = fresh(), weighted = fresh(), dscores = fresh();
    graph.matmul(at_.dout, at_.v, dweights);
    graph.pointwise(CUDNN_POINTWISE_SUB, {dweights, at_.delta}, centred);
    graph.pointwise(CUDNN_POINTWISE_MUL, {centred, weights}, weighted);
    graph.pointwise(CUDNN_POINTWISE_MUL, {weighted, at_.scale}, dscores);
    sum_over_group(graph, transposed(graph, dscores), at_.q, at_.dk);
    const TensorId key = graph.intermediate(heads(shape_.kv_heads), rows(strides_.query_key), type());
    graph.reshape(at_.k, key);
    at_.dq_sum = graph.tensor(each, {h * s * d, s * d, d, 1}, CUDNN_DATA_FLOAT);
    graph.matmul(dscores, key, at_.dq_sum);
    graph.pointwise(CUDNN_POINTWISE_IDENTITY, {at_.dq_sum}, at_.dq);
    return graph;
}

std::optional<DnnAttention> DnnAttention::make(cudnnHandle_t handle, const Attention& shape,
                                               AttentionStrides strides) try {
    if (!has_kernel(shape) || !aligned(strides)) return std::nullopt;
    DnnAttention made(shape, strides);
    DnnGraph graph = shape.backward ? made.backward_graph() : made.forward_graph();
    graph.finalize(handle);
    const std::vector<Descriptor> configurations = graph.configurations();
    if (configurations.empty()) return std::nullopt;
    made.plan_.emplace(handle, configurations.front());
    made.numbers_ = {.scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim)),
                     .lowest = -std::numeric_limits<float>::infinity(),
                     .window = static_cast<std::int32_t>(shape.window)};
    return made;
} catch (const CallFailed&) {
    return std::nullopt;  // cuDNN refuses what it has no kernel for
}

std::int64_t DnnAttention::dq_sum_bytes() const {
    return shape_.backward
               ? bytes_of(shape_.batch * shape_.sequence * shape_.heads * shape_.head_dim, DType::fp32)
                     .count()
               : 0;
}

std::int64_t DnnAttention::workspace() const { return rounded_up(plan_->workspace()) + dq_sum_bytes(); }

Descriptor DnnAttention::bind(const AttentionOperands& to, void* workspace) {
    std::vector<Bound> values{{at_.q, to.inputs.query.data},    {at_.k, to.inputs.key.data},
                              {at_.v, to.inputs.value.data},    {at_.o, to.output.data},
                              {at_.statistics, to.log_sum_exp}, {at_.scale, &numbers_.scale},
                              {at_.lowest, &numbers_.lowest}};
    if (shape_.window > 0) values.push_back({at_.window, &numbers_.window});
    if (shape_.backward) {
        void* const dq_sum = static_cast<std::byte*>(workspace) + rounded_up(plan_->workspace());
        values.insert(values.end(), {{at_.dout, to.output_gradient.data},
                                     {at_.dq, to.gradients.query.data},
                                     {at_.dk, to.gradients.key.data},
                                     {at_.dv, to.gradients.value.data},
                                     {at_.one, &numbers_.one},
                                     {at_.delta, to.delta},
                                     {at_.dq_sum, dq_sum}});
    }
    return DnnPlan::pack(values, workspace);
}

void DnnAttention::run(cudnnHandle_t handle, const Descriptor& bound, cudaStream_t stream) const {
    check(cudnnSetStream(handle, stream), "cudnnSetStream");
    plan_->run(handle, bound);
}

}  // namespace wirewise::cuda
