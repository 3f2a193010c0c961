// Our runtime's LayerEmitter: fused kernels; what the backward keeps follows from which buffers it reads.
#pragma once

#include "model/strategy/native/block.hpp"
#include "model/strategy/native/head.hpp"

namespace wirewise {

class NativeLayers final : public LayerEmitter {
  public:
    NativeLayers(NativeContext& context, NativeParameters& parameters)
        : context_(context), blocks_(context, parameters), head_(context, parameters) {}

    void begin_micro_batch() override {
        blocks_.begin_micro_batch();
        head_.begin_micro_batch();
    }
    void embedding_forward() override { x_ = head_.embedding_forward(); }
    void layer_forward(std::int32_t layer) override { x_ = blocks_.forward(layer, x_); }
    void head_and_loss() override {
        head_.last_norm(x_);
        if (context_.emission.phase == Phase::evaluation) head_.loss_forward();
    }
    void head_backward() override { dx_ = head_.loss_backward(); }
    void layer_backward(std::int32_t layer) override { blocks_.backward(layer, dx_); }
    void embedding_backward() override { head_.embedding_backward(dx_); }

  private:
    NativeContext& context_;
    BlockEmitter blocks_;
    HeadEmitter head_;
    BufferId x_{}, dx_{};
};

}  // namespace wirewise
