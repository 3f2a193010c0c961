// Causal grouped-query attention, forward with its statistics and backward, through graphs for cuDNN's fused
// kernels (wgmma on Hopper). Which graphs have a kernel, and its accuracy: measured on H200 (2026-11), cuDNN 9.14
// and 9.19, 2026-11-30.
#pragma once

#include <optional>

#include "executor/cuda/cudnn_graph.hpp"
#include "executor/cuda/kernels/attention.hpp"

namespace wirewise::cuda {

// Elements from row to row: of q and k, of v, and of dq, dk, dv.
struct AttentionStrides {
    std::int64_t query_key = 0, value = 0, gradient = 0;
    auto operator<=>(const AttentionStrides&) const = default;
};

struct AttentionOperands {
    AttentionInputs inputs;
    Array output;
    float* log_sum_exp = nullptr;  // [batch, heads, sequence]
    Array output_gradient;         // this and what follows: backward alone
    AttentionGradients gradients;
    float* delta = nullptr;  // scratch [batch, heads, sequence]
};

class DnnAttention {
  public:
    // Empty where cuDNN has no kernel: fp32, heads whose width 8 does not divide, values of another width.
    static std::optional<DnnAttention> make(cudnnHandle_t handle, const Attention& shape,
                                            AttentionStrides strides);

    std::int64_t workspace() const;  // bytes: cuDNN's own and the backward's fp32 sum of dq
    // Refers to this object for the numbers that are given by value.
    Descriptor bind(const AttentionOperands& operands, void* workspace);
    void run(cudnnHandle_t handle, const Descriptor& bound, cudaStream_t stream) const;

  private:
    struct Tensors {
        TensorId q, k, v, o, statistics, scale, lowest;
        TensorId window, dout, dq, dk, dv, delta, dq_sum, one;
    };
    DnnAttention(const Attention& shape, AttentionStrides strides) : shape_(shape), strides_(strides) {}
    Dimensions heads(std::int64_t count) const {
        return {shape_.batch, count, shape_.sequence, shape_.head_dim};
    }
    Dimensions rows(std::int64_t stride) const {
        return {shape_.sequence * stride, shape_.head_dim, stride, 1};
    }
    Dimensions scores() const { return {shape_.batch, shape_.heads, shape_.sequence, shape_.sequence}; }
    Dimensions per_query() const { return {shape_.batch, shape_.heads, shape_.sequence, 1}; }
    cudnnDataType_t type() const {
        return shape_.type == DType::fp16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
    }
    std::int64_t dq_sum_bytes() const;

    DnnGraph forward_graph();
    DnnGraph backward_graph();
    void declare_inputs(DnnGraph& graph, bool value_transposed);
    TensorId masked(DnnGraph& graph, TensorId scores);
    void sum_over_group(DnnGraph& graph, TensorId a, TensorId b, TensorId to);
    TensorId transposed(DnnGraph& graph, TensorId scores);

    Attention shape_;
    AttentionStrides strides_;
    Tensors at_{};
    std::optional<DnnPlan> plan_;
    struct Numbers {
        float scale = 1, lowest = 0, one = 1;
        std::int32_t window = 0;
    } numbers_;
};

}  // namespace wirewise::cuda
