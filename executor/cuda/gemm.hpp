// A linear layer's product through cuBLASLt: shapes, layouts and operands as in model/program/kernel.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "executor/cuda/handles.hpp"
#include "executor/cuda/kernels/array.hpp"
#include "model/program/kernel.hpp"

namespace wirewise::cuda {

using LtHandle = Owned<cublasLtHandle_t, cublasLtDestroy>;
LtHandle make_lt_handle();

// What NVIDIA asks for on Hopper (cuBLAS documentation, "cublasSetWorkspace").
constexpr std::size_t kGemmWorkspace = 32 << 20;

// Left: x or dy; right: W or x; result: y, dx or dW. Bias and addend may be absent.
struct GemmOperands {
    Array left, right, bias, addend, result;
};

class GemmPlan {
  public:
    // Empty when cuBLASLt has nothing for these dtypes or addresses. The operands' alignment is part of the
    // plan.
    static std::optional<GemmPlan> make(cublasLtHandle_t handle, const Gemm& gemm,
                                        const GemmOperands& operands);

    int candidates() const { return count_; }
    int chosen() const { return chosen_; }
    void choose(int candidate) { chosen_ = candidate; }
    void run(const GemmOperands& operands, void* workspace, cudaStream_t stream) const {
        run(chosen_, operands, workspace, stream);
    }
    // Times every candidate on the operands, two rounds in turn, and chooses the fastest. Overwrites the
    // result.
    void tune(const GemmOperands& operands, void* workspace, cudaStream_t stream);

  private:
    static constexpr int kMost = 8;
    using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
    using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
    // A named struct around the C library's unnamed one, which nvcc 13.0 cannot take as a template argument.
    struct Candidates {
        cublasLtMatmulHeuristicResult_t results[kMost];
    };

    GemmPlan() = default;
    void describe(const Gemm& gemm, const GemmOperands& operands);
    bool find_candidates(const GemmOperands& operands);
    void run(int candidate, const GemmOperands& operands, void* workspace, cudaStream_t stream) const;
    float time(int candidate, const GemmOperands& operands, void* workspace, cudaStream_t stream) const;

    cublasLtHandle_t handle_ = nullptr;
    Description description_;
    Layout a_, b_, c_;
    Candidates found_{};
    int count_ = 0, chosen_ = 0;
    float beta_ = 0;
};

// The same product in plain CUDA; the gradient of a bias is not part of it.
void run_plain(const Gemm& gemm, const GemmOperands& operands, cudaStream_t stream);

}  // namespace wirewise::cuda
