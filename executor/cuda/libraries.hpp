// The vendor's libraries as one rank uses them: handles, and plans made once per shape.
#pragma once

#include <memory>
#include <vector>

#include "executor/cuda/dnn_attention.hpp"
#include "executor/cuda/gemm.hpp"

namespace wirewise::cuda {

class Libraries {
  public:
    Libraries() : lt_(make_lt_handle()), dnn_(make_dnn_handle()) {}

    cudnnHandle_t dnn() const { return dnn_.get(); }
    // Null where the library has none; the same plan for the same shape, dtypes and alignment.
    std::shared_ptr<const GemmPlan> gemm(const Gemm& gemm, const GemmOperands& operands);
    std::shared_ptr<DnnAttention> attention(const Attention& shape, AttentionStrides strides);

    // Times the candidates of every product that is long enough to tell them apart, on random values:
    // overwrites the operands with which each was first asked for.
    void tune(void* workspace, cudaStream_t stream);

  private:
    struct KnownGemm {
        Gemm gemm;
        std::vector<std::uintptr_t> traits;  // of the operands: dtypes and alignments
        GemmOperands operands;
        std::shared_ptr<GemmPlan> plan;
    };
    struct KnownAttention {
        Attention shape;
        AttentionStrides strides;
        std::shared_ptr<DnnAttention> plan;
    };
    LtHandle lt_;
    DnnHandle dnn_;
    std::vector<KnownGemm> gemms_;
    std::vector<KnownAttention> attentions_;
};

}  // namespace wirewise::cuda
