// Attention as transformers calls it. Source: transformers/integrations/sdpa_attention.py, masking_utils.py
// (5.17); sizes of what cuDNN allocates from traces of its calls.
#include <utility>

#include "model/strategy/pytorch/ops.hpp"
#include "model/strategy/pytorch/ops_detail.hpp"

namespace wirewise::eager {

namespace {

Tensor copied(Tape& tape, std::string_view name, const Tensor& x, std::int64_t rows, DType type) {
    Tensor result = tape.storages.empty(name, rows, x.columns, type);
    tape.compute(name, broadcast_kernel(rows, x.columns, x.bytes() + result.bytes(), type),
                 {{x, Access::read}, {result, Access::write}});
    return result;
}

// Keys and values per query head, where they are fewer: a mask rules out enable_gqa. The gradient is summed.
Tensor repeated(Tape& tape, const Tensor& x, std::int64_t times) {
    if (times == 1) return x;
    const bool node = tape.begin({&x}, false);
    Tensor result = copied(tape, "repeat heads", x, x.rows * times, x.type);
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            Tensor sum =
                t.storages.empty("sum over repeated heads", input.rows, input.columns, gradient.type);
            t.compute(
                "sum over repeated heads",
                reduction_kernel(gradient.rows, gradient.columns, gradient.bytes() + sum.bytes(), sum.type),
                {{gradient, Access::read}, {sum, Access::write}});
            t.accumulate(input.target, std::move(sum));
        });
    return result;
}

// The heads side by side again, for the output projection.
Tensor joined_heads(Tape& tape, const Tensor& o) {
    const bool node = tape.begin({&o}, false);
    Tensor result = copied(tape, "join heads", o, o.rows, o.type);
    if (node)
        tape.record(result, [input = Input(o)](Tape& t, Tensor gradient) {
            gradient.view = true;
            t.accumulate(input.target, std::move(gradient));
        });
    return result;
}

// cuDNN's backward: fp32 dQ and row sums, and with grouped queries dK and dV per query head.
Tensor backward_workspace(Tape& t, const Tensor& q, const Tensor& k, const Tensor& lse) {
    const std::int64_t per_head = q.rows > k.rows ? q.count() : 0;
    return t.storages.empty("attention workspace", q.count() + lse.count() + per_head, 1, DType::fp32,
                            Role::workspace);
}

struct Saved {
    Tensor q, k, v, mask, o, lse, seed, offset;
};

void attend(Tape& tape, Saved& s, const Attention& shape) {
    if (tape.kept.restoring() && !tape.storages.skipping) {
        for (Tensor* output : {&s.o, &s.lse, &s.seed, &s.offset}) *output = tape.kept.restore();
        return;
    }
    const std::int64_t tokens = shape.batch * shape.sequence;
    s.o = tape.storages.empty("attention output", tokens, shape.heads * shape.value_head_dim, s.v.type);
    s.lse = tape.storages.empty("log-sum-exp", tokens, shape.heads, DType::fp32);
    s.seed = tape.storages.empty("attention seed", 1, 1, DType::int64);
    s.offset = tape.storages.empty("attention offset", 1, 1, DType::int64);
    tape.compute("attention", shape,
                 {{s.q, Access::read},
                  {s.k, Access::read},
                  {s.v, Access::read},
                  {s.mask.defined() ? s.mask : s.k, Access::read},
                  {s.o, Access::write},
                  {s.lse, Access::write},
                  {s.seed, Access::write},
                  {s.offset, Access::write}});
    for (const Tensor* output : {&s.o, &s.lse, &s.seed, &s.offset}) tape.kept.keep(*output);
}

void attention_backward(Tape& t, const Saved& s, const Attention& shape, const Tensor& gradient) {
    Attention kernel = shape;
    kernel.backward = true;
    Tensor dq = t.storages.empty("attention query gradient", s.q.rows, s.q.columns, s.q.type);
    Tensor dk = t.storages.empty("attention key gradient", s.k.rows, s.k.columns, s.k.type);
    Tensor dv = t.storages.empty("attention value gradient", s.v.rows, s.v.columns, s.v.type);
    Tensor workspace = backward_workspace(t, s.q, s.k, s.lse);
    const Tensor& mask = s.mask.defined() ? s.mask : s.lse;
    t.compute("attention gradient", kernel,
              {{s.q, Access::read},
               {s.k, Access::read},
               {s.v, Access::read},
               {mask, Access::read},
               {s.o, Access::read},
               {s.lse, Access::read},
               {s.seed, Access::read},
               {s.offset, Access::read},
               {gradient, Access::read},
               {dq, Access::write},
               {dk, Access::write},
               {dv, Access::write},
               {workspace, Access::write}});
    workspace = {};
    t.accumulate(Tape::target(s.q), std::move(dq));
    t.accumulate(Tape::target(s.k), std::move(dk));
    t.accumulate(Tape::target(s.v), std::move(dv));
}

// The boolean mask as something to add, for each sample: made anew in each layer, and kept.
Tensor additive(Tape& tape, const Tensor& mask, std::int64_t batch, DType type) {
    Tensor result = tape.storages.empty("additive mask", batch * mask.rows, mask.columns, type);
    tape.compute("additive mask", broadcast_kernel(result.rows, result.columns, result.bytes(), type),
                 {{mask, Access::read}, {result, Access::write}});
    return result;
}

}  // namespace

// The log-sum-exp and two seed scalars are kept; without a mask keys and values are repeated
// where the model asks for it only (else enable_gqa).
Tensor attention(Tape& tape, const AttentionInputs& inputs, const Attention& shape) {
    const bool repeats = inputs.mask.defined() || inputs.repeated_heads;
    const std::int64_t groups = repeats ? shape.heads / shape.kv_heads : 1;
    const auto for_each_head = [&](const Tensor& x) {  // a single head is seen many times without a copy
        return shape.kv_heads == 1 ? expand_rows(tape, x, groups) : repeated(tape, x, groups);
    };
    Tensor k = for_each_head(inputs.k);
    Tensor v = for_each_head(inputs.v);
    Tensor mask;
    if (inputs.mask.defined() && inputs.mask.type != DType::int8)
        mask = inputs.mask;
    else if (inputs.mask.defined())
        mask = additive(tape, inputs.mask, shape.batch, inputs.q.type);
    const bool node = tape.begin({&inputs.q, &k, &v}, true);
    Saved saved{inputs.q, std::move(k), std::move(v), std::move(mask), {}, {}, {}, {}};
    attend(tape, saved, shape);
    Tensor o = saved.o;
    if (node)
        tape.record(o, [saved = std::move(saved), shape](Tape& t, Tensor gradient) {
            attention_backward(t, saved, shape, gradient);
        });
    return inputs.head_major ? joined_heads(tape, o) : o;
}

// The heads' rows in a layout that a batched product takes.
static Tensor contiguous(Tape& tape, const Tensor& x) {
    const bool node = tape.begin({&x}, false);
    Tensor result = copied(tape, "heads in batch layout", x, x.rows, x.type);
    if (node)
        tape.record(result, [input = Input(x)](Tape& t, Tensor gradient) {
            gradient.view = true;
            t.accumulate(input.target, std::move(gradient));
        });
    return result;
}

constexpr LinearNames kScores{"attention scores", "attention scores, query gradient",
                              "attention scores, key gradient"};
constexpr LinearNames kValues{"attention values", "attention weights gradient", "attention value gradient"};

static Tensor repeated_if(Tape& tape, const Tensor& x, std::int64_t groups) {
    return groups > 1 ? repeated(tape, x, groups) : x;
}

// As Megatron writes it: views of the heads, and one kernel between the two products.
static Tensor fused_softmax_attention(Tape& tape, const AttentionInputs& inputs, const Attention& shape) {
    const std::int64_t groups = shape.heads / shape.kv_heads;
    Tensor weights;
    {
        const Tensor k = repeated_if(tape, inputs.k, groups);
        weights = fused_softmax_of_rows(tape, batched_product(tape, inputs.q, k, shape.sequence, kScores));
    }
    const Tensor v = repeated_if(tape, inputs.v, groups);
    const Tensor o = batched_product(tape, weights, v, shape.value_head_dim, kValues);
    weights = {};
    return reshape(tape, joined_heads(tape, o), shape.batch * shape.sequence,
                   shape.heads * shape.value_head_dim);
}

// Scores, mask, softmax in fp32 and the product with the values, each a tensor of its own.
Tensor eager_attention(Tape& tape, const AttentionInputs& inputs, const Attention& shape,
                       AttentionForm form) {
    if (form == AttentionForm::fused_softmax) return fused_softmax_attention(tape, inputs, shape);
    const DType type = inputs.v.type;
    const DType score_type = form == AttentionForm::eager ? type : DType::fp32;
    const DType value_type = form == AttentionForm::math ? DType::fp32 : type;
    const std::int64_t groups = shape.heads / shape.kv_heads;
    const auto prepared = [&](const Tensor& x, DType to, std::int64_t times) {
        const Tensor wide = cast(tape, x, to);
        return times > 1 ? repeated(tape, wide, times) : contiguous(tape, wide);
    };
    Tensor weights;
    {
        const Tensor q = prepared(inputs.q, score_type, 1), k = prepared(inputs.k, score_type, groups);
        Tensor scores = batched_product(tape, q, k, shape.sequence, kScores);
        scores = form == AttentionForm::eager_fp32 ? scale(tape, scores) : scores;
        scores = add(tape, scores, inputs.mask);
        weights = softmax_of_rows(tape, cast(tape, scores, DType::fp32), DType::fp32);
    }
    weights = cast(tape, weights, value_type);
    const Tensor v = prepared(inputs.v, value_type, groups);
    Tensor o = batched_product(tape, weights, v, shape.value_head_dim, kValues);
    weights = {};
    o = joined_heads(tape, cast(tape, o, type));
    return reshape(tape, o, shape.batch * shape.sequence, shape.heads * shape.value_head_dim);
}

}  // namespace wirewise::eager
