// ZeRO-1 and 2 with the optimizer on the host: own gradients go there as they are reduced, updated parameters
// come back. Source: deepspeed/runtime/zero/stage_1_and_2.py, read 2026-11; the way back in 16 bits since
// pull request 7309.
#pragma once

#include "model/strategy/deepspeed/flat_layout.hpp"
#include "model/strategy/pytorch/context.hpp"

namespace wirewise {

class HostTransfer {
  public:
    HostTransfer(PytorchContext& context, StreamId host, const FlatLayout& layout);

    // The buffers that exist from the first moment on.
    void load();
    // An averaged gradient of which this rank owns a part. With accumulation the sum of the micro-batches
    // waits on the host in 16 bits; at the boundary the own part is cast and copied into the fp32 gradients
    // there.
    void take(WeightId weight, const Operand& gradient, StreamId stream, BufferId host_gradient);
    // The host goes on when all gradients have arrived.
    void wait();
    // fp32 master parameters to 16 bits on the host, and to the GPU.
    void give_back(BufferId master, std::int64_t count, const Operand& to);

  private:
    DType type() const { return context_.plan().precision.parameter; }
    void accumulate(WeightId weight, const Operand& gradient, StreamId stream);

    PytorchContext& context_;
    StreamId host_;
    const FlatLayout& layout_;
    BufferId updated_;                      // 16-bit parameters of the own partition, on the host
    BufferId host_scratch_, gpu_scratch_;   // one gradient of the largest size
    std::optional<BufferId> sums_;          // of own weights over micro-batches, on the host
    std::vector<std::int64_t> sum_offset_;  // by weight
};

}  // namespace wirewise
