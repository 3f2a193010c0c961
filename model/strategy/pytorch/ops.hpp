// The tensor operations of eager PyTorch: each emits its kernels, and records what autograd saves and does.
// Order of gradients within an op is that of derivatives.yaml's generated code: alphabetical by argument
// (mat2 before self, other before self); sums to a broadcast input's shape follow when all of the op's
// gradients are there. Source: tools/autograd/derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp
// (2.11).
#pragma once

#include <optional>

#include "model/strategy/pytorch/tape.hpp"
#include "model/transformer/module_form.hpp"

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
Tensor scale(Tape& tape, const Tensor& x);  // by a constant
Tensor negative(Tape& tape, const Tensor& x);
Tensor power(Tape& tape, const Tensor& x);    // a constant, whole one: square, cube
Tensor tangent(Tape& tape, const Tensor& x);  // tanh: saves its result
Tensor reciprocal_square_root(Tape& tape, const Tensor& x);
// SiLU, GELU: save the input.
Tensor activation(Tape& tape, const Tensor& x);
// ReLU saves its result.
Tensor rectified(Tape& tape, const Tensor& x);
// GELU by elementwise expressions: 0.5 x (1 + tanh(c (x + d x^3))). Autocast takes powers in fp32, and what
// follows from them.
Tensor chained_gelu(Tape& tape, const Tensor& x, bool autocast);
// Keeps a mask of one byte per element.
Tensor dropout(Tape& tape, const Tensor& x);

// Over rows.
Tensor mean_of_rows(Tape& tape, const Tensor& x);
Tensor softmax_of_rows(Tape& tape, const Tensor& x, DType type);
Tensor fused_softmax_of_rows(Tape& tape, const Tensor& x);
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
struct ThreeParts {
    Tensor first, second, third;
};
// `copies_gradient`: the joined gradient stands in another layout.
ThreeParts split(Tape& tape, const Tensor& x, std::int64_t first_columns, std::int64_t second_columns,
                 bool copies_gradient);
// Parts of so many rows each; one gradient tensor for all.
std::vector<Tensor> split_rows(Tape& tape, const Tensor& x, std::int64_t rows);
// Each row `times` times, without a copy; its gradient is summed.
Tensor expand_rows(Tape& tape, const Tensor& x, std::int64_t times);

// Products.
struct LinearNames {
    std::string_view forward, data_gradient, weight_gradient;
};
// A product of matrices per head, all heads in one launch: a is [rows, k], b holds the same heads' [k,
// columns].
Tensor batched_product(Tape& tape, const Tensor& a, const Tensor& b, std::int64_t columns,
                       const LinearNames& names);
Tensor linear(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor* bias,
              const LinearNames& names);
// scaled_dot_product_attention by cuDNN, and the same written out: see attention.cpp.
struct AttentionInputs {
    Tensor q, k, v;
    Tensor mask{};                // boolean (int8), or as it is added to the scores; undefined: is_causal
    bool repeated_heads = false;  // keys and values are copied for each query head though there is no mask
    bool head_major = false;  // q is contiguous per head, and so is the output: joining its heads is a copy
};
Tensor attention(Tape& tape, const AttentionInputs& inputs, const Attention& shape);
Tensor eager_attention(Tape& tape, const AttentionInputs& inputs, const Attention& shape, AttentionForm form);

Tensor expert_linear(Tape& tape, const Tensor& x, const Tensor& stacked, std::int64_t experts,
                     const LinearNames& names);

// Rows picked by ids.
Tensor embedding(Tape& tape, const Tensor& table, const Tensor& ids);
// Each row sent to `times` places, and brought back as a sum.
Tensor scatter_rows(Tape& tape, const Tensor& x, std::int64_t times);
Tensor gather_rows(Tape& tape, const Tensor& x, std::int64_t times);

}  // namespace wirewise::eager
