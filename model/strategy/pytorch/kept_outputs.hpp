// Selective checkpointing, op by op: what the forward keeps of a checkpointed layer besides its input, so
// that the recomputation need not run those ops again. The policy is torchtitan's "selective op": the output
// of every other aten::mm, from the first on, and of fused attention. A product with a bias is aten::addmm,
// which its list does not name. Source: torchtitan/distributed/activation_checkpoint.py,
// torch/utils/checkpoint.py (2.6).
#pragma once

#include <utility>
#include <vector>

#include "model/strategy/pytorch/tensor.hpp"

namespace wirewise {

class KeptOutputs {
  public:
    void start_keeping() {
        *this = {};
        mode_ = Mode::keep;
    }
    // What was kept since; nothing is kept any more.
    std::vector<Tensor> take_all() {
        mode_ = Mode::off;
        return std::exchange(outputs_, {});
    }
    void start_restoring(std::vector<Tensor> outputs) {
        *this = {};
        mode_ = Mode::restore;
        outputs_ = std::move(outputs);
    }
    // The policy's choice for the next product of matrices.
    bool chooses_product(bool bias) { return !bias && ++products_ % 2 == 1; }

    bool restoring() const { return mode_ == Mode::restore; }
    void keep(const Tensor& output) {
        if (mode_ == Mode::keep) outputs_.push_back(output);
    }
    Tensor restore() { return std::exchange(outputs_.at(restored_++), {}); }

  private:
    enum class Mode { off, keep, restore };
    Mode mode_ = Mode::off;
    int products_ = 0;
    std::size_t restored_ = 0;
    std::vector<Tensor> outputs_;
};

}  // namespace wirewise
