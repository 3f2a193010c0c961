// Shared by the sources of the eager ops.
#pragma once

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise::eager {

// What a sum of `rows` rows into one allocates to join its blocks: ATen/native/cuda/Reduce.cuh splits long
// columns over blocks until the GPU is full, and stages 128 fp32 slots per output and block. On 132 SMs
// (H100, H200); on fewer, less.
Bytes column_sum_workspace(std::int64_t rows, std::int64_t columns);

// The gradient summed and cast to what its input was.
Tensor fitted(Tape& tape, const Input& input, Tensor gradient);
// A cast without a node; the tensor itself when it has the type already.
Tensor convert(Tape& tape, std::string_view name, Tensor x, DType type);

// The matmuls of a linear layer, without nodes.
Tensor matmul(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor* bias,
              const LinearNames& names);
Tensor data_gradient(Tape& tape, const Tensor& dy, const Tensor& weight, const LinearNames& names);
Tensor weight_gradient(Tape& tape, const Tensor& dy, const Tensor& x, const LinearNames& names);

}  // namespace wirewise::eager
