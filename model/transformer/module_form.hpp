// How an architecture's reference implementation (transformers, in PyTorch) runs its modules. The mathematics
// is the same; which tensors live, and which kernels run, is not. Facts read in its source (5.17) and in
// traces of its steps (tests/pytorch/fixtures/traces.jsonl), 2026-11.
#pragma once

#include <cstdint>

namespace wirewise {

enum class NormForm : std::uint8_t {
    usual,           // RMS: normalised in fp32, cast, scaled. Layer norm: one kernel in the model's type
    scaled_in_fp32,  // RMS: scaled before the cast (OLMo 2)
    shifted_scale,   // RMS: scaled by one plus the weight, in fp32 (Gemma)
    fused_fp32,      // layer norm: one kernel, on a cast of the input (OLMo)
    chained_fp32,    // layer norm: elementwise expressions in fp32 (Command-R)
};

// How q, k and v come out of one fused projection.
enum class FusedSplit : std::uint8_t {
    slices,       // by indexing: each gradient is a zero tensor of the full width with its part filled
    split,        // by split(): one gradient for all
    split_heads,  // each head's q, k and v stand together: the one gradient is head-major, and copied (NeoX)
};

enum class RotaryForm : std::uint8_t {
    usual,         // the whole head in the model's type, or a part that is cut off and joined again
    fp32_tables,   // cosines and sines stay fp32, and so do the products (OLMo)
    fp32,          // q and k are cast as well (Command-R)
    always_joined  // cut and joined though all of the head rotates (Phi 3)
};

enum class AttentionForm : std::uint8_t {
    fused,          // scaled_dot_product_attention in a fused kernel
    eager,          // written out in the model's type, softmax in fp32 (BLOOM)
    eager_fp32,     // the same, with q and k cast to fp32 (GPT-J)
    fused_softmax,  // written out, but scale, causal mask and softmax are one kernel in the model's type
                    // (Megatron)
    math,           // scaled_dot_product_attention where no fused kernel takes the shapes: all in fp32
};

struct ModuleForm {
    NormForm norm = NormForm::usual;
    FusedSplit fused_split = FusedSplit::slices;
    RotaryForm rotary = RotaryForm::usual;
    AttentionForm attention = AttentionForm::fused;
    bool always_masked = false;       // attention gets a causal mask as a tensor, never is_causal (Falcon)
    bool mask_added_once = false;     // and in the form that is added to the scores, made once for all layers
    bool repeated_heads = false;      // keys and values are copied for each query head before attention
    bool chained_activation = false;  // GELU written out as elementwise expressions (gelu_new and its like)
    bool scaled_query = false;        // q is multiplied by its scale in its own kernel (OPT)
    // Multiplications by a constant in kernels of their own.
    bool scaled_embedding = false, scaled_residual = false, scaled_logits = false, capped_logits = false;
    bool operator==(const ModuleForm&) const = default;
};

// Where the config's dropout probability is not zero: training keeps a mask of one byte per element.
struct Dropout {
    bool embedding = false;
    bool residual = false;  // on what attention and MLP add to the residual stream
    bool operator==(const Dropout&) const = default;
};

}  // namespace wirewise
