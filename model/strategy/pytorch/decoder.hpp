// The LayerEmitter of eager PyTorch: runs the model's Python forward, then the tape backwards, unit by unit.
#pragma once

#include "model/strategy/pytorch/compiled.hpp"
#include "model/strategy/pytorch/modules.hpp"

namespace wirewise {

class EagerDecoder final : public LayerEmitter {
  public:
    explicit EagerDecoder(PytorchContext& context);

    void begin_micro_batch() override;
    void embedding_forward() override;
    void layer_forward(std::int32_t layer) override;
    void head_and_loss() override;
    void head_backward() override;
    void loss() override;
    void loss_backward() override;
    void layer_backward(std::int32_t layer) override;
    void embedding_backward() override;

  private:
    struct Checkpoint {  // what non-reentrant checkpointing keeps of a layer
        Tensor input, output;
        int saves = 0;
        std::vector<Tensor> kept;  // outputs of ops that selective checkpointing does not run again
    };
    bool checkpoints(std::int32_t layer) const;
    bool recomputes_any() const;
    std::vector<Tensor> chunked_logits(std::int64_t chunk);
    Tensor run_layer(std::int32_t layer, const Tensor& x);
    void give_other_gradients(Unit unit);
    void checkpointed_forward(std::int32_t layer);
    void checkpointed_backward(std::int32_t layer);

    PytorchContext& context_;
    Tape& tape_;
    Modules modules_;
    CompiledLayers compiled_;
    std::vector<BufferId> cublas_workspaces_;  // of the main thread and of autograd's thread
    Tensor ids_, labels_;
    Tensor embedded_, hidden_, loss_;
    std::vector<Tensor> logits_;
    std::size_t start_of_loss_ = 0;      // tape position
    std::vector<std::size_t> start_of_;  // layer -> tape position; one more: the head
    std::vector<Checkpoint> checkpoints_;
};

}  // namespace wirewise
