// The tensor operations of eager PyTorch: each emits its kernels, and records what autograd saves and does.
// Order of gradients within an op is that of derivatives.yaml's generated code: alphabetical by argument
// (mat2 before self, other before self); sums to a broadcast input's shape follow when all of the op's
// gradients are there. Source: tools/autograd/derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp
// (2.11).
#pragma once

#include <optional>

#include "model/strategy/pytorch/tape.hpp"

namespace wirewise::eager {

// Where an input's gradient goes and what shape it must have; does not hold its storage.
struct Input {
    Tape::Target target;
    std::int64_t rows = 0, columns = 0;
    DType type = DType::bf16;
    Input(const Tensor& tensor)  // NOLINT: an input is made of a tensor wherever one is named
        : target(Tape::target(tensor)), rows(tensor.rows), columns(tensor.columns), type(tensor.type) {}
    bool wanted() const { return static_cast<bool>(target); }
};

// Elementwise.
Tensor cast(Tape& tape, const Tensor& x, DType type);
Tensor add(Tape& tape, const Tensor& a, const Tensor& b);
Tensor add_scalar(Tape& tape, const Tensor& x);
Tensor multiply(Tape& tape, const Tensor& a, const Tensor& b);
Tensor negative(Tape& tape, const Tensor& x);
Tensor square(Tape& tape, const Tensor& x);
Tensor reciprocal_square_root(Tape& tape, const Tensor& x);
// SiLU, GELU, ReLU: save the input. squared ReLU is relu, then square.
Tensor activation(Tape& tape, const Tensor& x);

// Over rows.
Tensor mean_of_rows(Tape& tape, const Tensor& x);
Tensor softmax_of_rows(Tape& tape, const Tensor& x, DType type);
Tensor layer_norm(Tape& tape, const Tensor& x, const Tensor* weight, const Tensor* bias);

// Shape. A view's gradient is a view, unless it arrives in another memory layout and must be copied.
Tensor reshape(Tape& tape, const Tensor& x, std::int64_t rows, std::int64_t columns,
               bool copies_gradient = false);
// Columns [.., ..) of width `columns` by indexing: the gradient is a zero tensor with that part filled.
Tensor slice(Tape& tape, const Tensor& x, std::int64_t columns);
Tensor concatenate(Tape& tape, const Tensor& a, const Tensor& b);
// Two parts by split or chunk: one gradient tensor for both.
struct Parts {
    Tensor first, second;
};
Parts split(Tape& tape, const Tensor& x, std::int64_t first_columns);
// Each row `times` times, without a copy; its gradient is summed.
Tensor expand_rows(Tape& tape, const Tensor& x, std::int64_t times);

// Products.
struct LinearNames {
    std::string_view forward, data_gradient, weight_gradient;
};
Tensor linear(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor* bias,
              const LinearNames& names);
Tensor attention(Tape& tape, const Tensor& q, const Tensor& k, const Tensor& v, const Attention& shape);

Tensor expert_linear(Tape& tape, const Tensor& x, const Tensor& stacked, std::int64_t experts,
                     const LinearNames& names);

// Rows picked by ids.
Tensor embedding(Tape& tape, const Tensor& table, const Tensor& ids);
// Each row sent to `times` places, and brought back as a sum.
Tensor scatter_rows(Tape& tape, const Tensor& x, std::int64_t times);
Tensor gather_rows(Tape& tape, const Tensor& x, std::int64_t times);

}  // namespace wirewise::eager
