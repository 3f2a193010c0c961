// One decoder layer under torch.compile: one autograd node; norms, rotations and SwiGLU fused; the
// recomputable casts and activations are not saved. Under DDP, Dynamo's splitter cuts the graph at bucket
// edges, and what crosses a cut is saved as well.
#pragma once

#include "model/strategy/pytorch/modules.hpp"

namespace wirewise {

class CompiledLayers {
  public:
    CompiledLayers(PytorchContext& context, Modules& modules)
        : context_(context), tape_(context.tape), modules_(modules) {}

    // Whether this layer is compiled and of the shape fused here; others run eagerly.
    bool handles(std::int32_t index) const;
    Tensor layer(std::int32_t index, const Tensor& x);

  private:
    struct Saved {
        std::int32_t index = 0;
        eager::Input input;
        Tensor x, norm1, rstd1, q_raw, k_raw, q, k, v, o, lse, seed, offset, h, norm2, rstd2, v_raw, gate,
            activated, up, product;
    };
    // Whether DDP's splitter cuts between the gate's activation and its product with up. Walking the layer
    // from its end, it closes a graph once its weights fill a bucket: the last one (a first bucket of 1 MiB)
    // after down, the next after up where that weight fills 25 MiB. Source:
    // torch/_dynamo/backends/distributed.py (2.11). Other cuts fall where the tensor is saved anyway.
    bool cut_at_product(std::int32_t index) const;
    void enter(std::int32_t passes) const;
    Tensor forward(Saved& saved);
    void first_norm(Saved& saved);
    void heads(Saved& saved);
    void drop_unrotated(Saved& saved) const;
    void attend(Saved& saved);
    void second_norm(Saved& saved, Tensor attended);
    void mlp_product(Saved& saved);
    std::int64_t copies_of_heads(std::int32_t index) const;  // of keys and values
    bool recomputes_op_by_op() const;
    void drop_recomputed(Saved& saved) const;
    void recompute(Saved& saved);
    void backward(Saved& saved, const Tensor& dy);
    std::vector<Tensor> mlp_backward(Saved& saved, const Tensor& dy);
    std::vector<Tensor> cut_mlp_backward(Saved& saved, Tensor& dproduct);
    std::vector<Tensor> attention_backward(Saved& saved, const Tensor& dh);
    Tensor norm_backward(std::vector<Tensor> gradients, const Tensor& x, const Tensor& residual);

    // Matmul gradients of one projection: its weight's (and bias's) go to AccumulateGrad at the node's end.
    Tensor projection(const Saved& saved, ParameterUse use, const Tensor& x);
    Tensor projection_gradient(const Saved& saved, ParameterUse use, const Tensor& dy, Tensor& x);
    // One fused kernel: `reads` (named twice where it is read twice or also written) into a fresh matrix.
    Tensor fused(std::string_view name, std::initializer_list<const Tensor*> reads, std::int64_t rows,
                 std::int64_t columns, const Tensor* row_factor = nullptr);
    void norm_weight_gradient(const Saved& saved, int nth);
    std::optional<Tensor> weight_of(const Saved& saved, ParameterUse use, int nth = 0) const {
        return modules_.find({saved.index}, use, nth);
    }

    PytorchContext& context_;
    Tape& tape_;
    Modules& modules_;
    std::vector<std::pair<Tape::Target, Tensor>> weight_gradients_;
};

}  // namespace wirewise
