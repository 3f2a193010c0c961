// What one GPU kernel computes: enough to price it (shapes, bytes) and, for the kernels of our own runtime,
// enough to execute it. Model constants (epsilon, RoPE base, learning rate) are bound later, from the plan; a
// kernel holds shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "model/units/dtype.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

// Row-major C[m,n] (+)= A * B over k, named by its place in training, for tokens T, inputs I and outputs O of
// a linear layer with weight [O, I]:  forward  y[T,O] = x[T,I] W^T;  data_gradient dx[T,I] = dy[T,O] W;
// weight_gradient dW[O,I] (+)= dy^T x.   Operands: reads (x|dy|dy), (W|W|x); writes result.
enum class GemmLayout : std::uint8_t { forward, data_gradient, weight_gradient };

struct Gemm {
    GemmLayout layout = GemmLayout::forward;
    std::int64_t m = 0, n = 0, k = 0;
    DType type = DType::bf16;    // of both inputs
    DType result = DType::bf16;  // of C
    bool accumulate = false;     // adds to C instead of overwriting it
    bool bias = false;    // forward: an extra read [n]; weight_gradient: also writes the bias gradient [m]
    bool addend = false;  // forward: an extra read [m, n] added to the result (the residual)
    // So many products of equal size in one call, each with its own weight (routed experts): the tokens are
    // split among them, m of forward and data_gradient, k of weight_gradient. The flops are those of one
    // product.
    std::int64_t groups = 1;
    bool operator==(const Gemm&) const = default;
};

// Causal grouped-query attention over packed sequences.
// forward: reads q, k, v; writes o, lse.  backward: reads q, k, v, o, lse, do; writes dq, dk, dv.
struct Attention {
    bool backward = false;
    std::int64_t batch = 0, sequence = 0, heads = 0, kv_heads = 0;
    std::int64_t head_dim = 0;        // of q and k
    std::int64_t value_head_dim = 0;  // of v and o
    std::int64_t window = 0;          // sliding window in tokens; 0: full causal
    DType type = DType::bf16;
    bool masked = false;  // causality comes as a mask tensor: the full square is computed
    bool operator==(const Attention&) const = default;
};

enum class PointwiseKind : std::uint8_t {
    // Our own fused kernels; operand order beside each (reads -> writes).
    embedding_forward,      // tokens, table -> x
    embedding_backward,     // tokens, dx -> table gradient (accumulated)
    position_add,           // x, position table -> x       (learned absolute positions)
    position_backward,      // dx -> position table gradient (accumulated)
    norm_forward,           // x, weight[, bias] -> y, rstd[, mean]
    norm_recompute,         // x, weight, rstd[, bias, mean] -> y
    norm_backward,          // dy, x, weight, rstd[, mean] -> dx += its share in place, dweight[, dbias]
    rope_forward,           // q, k in place
    rope_backward,          // dq, dk in place
    head_norm_forward,      // q (or k) per head in place, weight -> rstd
    head_norm_backward,     // dq, q, weight, rstd -> dq in place, dweight (accumulated)
    activation_forward,     // gate, up -> product (gated) or up -> product
    activation_backward,    // dproduct, gate, up -> dgate, dup
    add,                    // a, b -> sum
    cross_entropy,          // logits, targets -> loss (accumulated), dlogits in place
    cross_entropy_forward,  // logits, targets -> loss (accumulated)   (evaluation)
    cast,                   // a -> b
    copy,                   // a -> b
    fill_zero,              // -> a
    accumulate,             // a, b -> b += a
    scale,                  // a in place
    squared_norm,           // a -> scalar (accumulated)
    clip_scale,             // scalar -> factor
    // Kernels of other frameworks, priced but not executed by us.
    eager,
};

// How a memory-bound kernel walks memory; each class has its own rate in the cost profile.
enum class AccessClass : std::uint8_t {
    vector,     // contiguous reads and writes: bound by bytes
    broadcast,  // casts up, per-row factors: bound by elements on some GPUs
    reduction,  // over rows or columns
    gather,     // rows picked by index
};

enum class ActivationKind : std::uint8_t { silu, gelu, gelu_tanh, relu, relu_squared };

struct Pointwise {
    PointwiseKind kind = PointwiseKind::eager;
    AccessClass access = AccessClass::vector;
    ActivationKind activation = ActivationKind::silu;  // of activation_*
    bool gated = true;                                 // of activation_*
    bool accumulate = false;                           // adds to the weight gradients it writes
    std::int64_t rows = 0, columns = 0;
    Bytes traffic{};  // read + written
    DType type = DType::bf16;
    bool operator==(const Pointwise&) const = default;
};

enum class OptimizerKind : std::uint8_t { adamw_fused, adamw_foreach, adamw_8bit, sgd };

// One update of `count` parameters. Reads gradient[, clip factor]; updates parameter[, m, v][, master]: SGD,
// which has no momentum, keeps no moments.
struct OptimizerUpdate {
    OptimizerKind kind = OptimizerKind::adamw_fused;
    std::int64_t count = 0;
    DType parameter = DType::bf16, gradient = DType::bf16, state = DType::fp32;
    bool master = false;
    Bytes traffic{};  // read + written
    bool operator==(const OptimizerUpdate&) const = default;
};

using Kernel = std::variant<Gemm, Attention, Pointwise, OptimizerUpdate>;

// Floating-point operations of the kernel as executed (causal attention: half of the full square; a window
// counts only the pairs inside it). Memory-bound kernels and updates count none.
Flops flops_of(const Kernel& kernel);

// The same number for equal kernels, on every machine and in every run.
std::uint64_t hash_of(const Kernel& kernel);

std::string_view name_of(GemmLayout layout);
std::string_view name_of(PointwiseKind kind);
std::string_view name_of(AccessClass access);
std::string_view name_of(ActivationKind kind);
std::string_view name_of(OptimizerKind kind);

// "gemm forward 4096x14336x4096 bf16"
std::string to_text(const Kernel& kernel);

}  // namespace wirewise
