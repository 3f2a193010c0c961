#include "executor/cuda/gemm.hpp"

#include <algorithm>
#include <limits>

#include "executor/cuda/kernels/plain_gemm.hpp"

namespace wirewise::cuda {

namespace {

cudaDataType_t type_of(DType type) {
    switch (type) {
        case DType::bf16:
            return CUDA_R_16BF;
        case DType::fp16:
            return CUDA_R_16F;
        default:
            return CUDA_R_32F;
    }
}

std::uint32_t alignment_of(const void* address) {
    const auto bits = reinterpret_cast<std::uintptr_t>(address);
    return static_cast<std::uint32_t>(std::min<std::uintptr_t>(bits & (~bits + 1), 256));
}

// cuBLAS counts in columns: it sees every row-major matrix as its transpose and computes result^T = B^T A^T.
// So its first operand is our right one.
struct ColumnMajor {
    cublasOperation_t a_operation, b_operation;
    std::int64_t a_rows, a_columns, b_rows, b_columns;
};

ColumnMajor column_major(const Gemm& gemm) {
    const std::int64_t m = gemm.m, n = gemm.n, k = gemm.k;
    switch (gemm.layout) {
        case GemmLayout::forward:
            return {CUBLAS_OP_T, CUBLAS_OP_N, k, n, k, m};
        case GemmLayout::data_gradient:
            return {CUBLAS_OP_N, CUBLAS_OP_N, n, k, k, m};
        case GemmLayout::weight_gradient:
            break;
    }
    return {CUBLAS_OP_N, CUBLAS_OP_T, n, k, m, k};
}

template <class Value>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
}

template <class Value>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const Value& value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
}

cublasLtMatrixLayout_t layout(DType type, std::int64_t rows, std::int64_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, type_of(type), static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
    return made;
}

const void* addend_or_result(const GemmOperands& operands) {
    return operands.addend ? operands.addend.data : operands.result.data;
}

}  // namespace

LtHandle make_lt_handle() {
    cublasLtHandle_t handle = nullptr;
    check(cublasLtCreate(&handle), "cublasLtCreate");
    return LtHandle(handle);
}

void GemmPlan::describe(const Gemm& gemm, const GemmOperands& operands) {
    const ColumnMajor shape = column_major(gemm);
    cublasLtMatmulDesc_t description = nullptr;
    check(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    description_ = Description(description);
    set(description, CUBLASLT_MATMUL_DESC_TRANSA, shape.a_operation);
    set(description, CUBLASLT_MATMUL_DESC_TRANSB, shape.b_operation);
    if (operands.bias) {
        set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        set(description, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(operands.bias.type));
    }
    a_ = Layout(layout(operands.right.type, shape.a_rows, shape.a_columns));
    b_ = Layout(layout(operands.left.type, shape.b_rows, shape.b_columns));
    c_ = Layout(layout(operands.result.type, gemm.n, gemm.m));
    beta_ = gemm.accumulate || operands.addend ? 1.0F : 0.0F;
}

bool GemmPlan::find_candidates(const GemmOperands& operands) {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference(made);
    set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kGemmWorkspace);
    set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(operands.right.data));
    set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(operands.left.data));
    set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(addend_or_result(operands)));
    set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(operands.result.data));
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_, description_.get(), a_.get(), b_.get(), c_.get(), c_.get(),
                                       made, kMost, found_.results, &count_);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return false;
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    return count_ > 0;
}

std::optional<GemmPlan> GemmPlan::make(cublasLtHandle_t handle, const Gemm& gemm,
                                       const GemmOperands& operands) {
    if (operands.left.type != operands.right.type) return std::nullopt;
    GemmPlan plan;
    plan.handle_ = handle;
    plan.describe(gemm, operands);
    if (!plan.find_candidates(operands)) return std::nullopt;
    return plan;
}

void GemmPlan::run(int candidate, const GemmOperands& operands, void* workspace, cudaStream_t stream) const {
    const float one = 1;
    if (operands.bias) set(description_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias.data);
    check(cublasLtMatmul(handle_, description_.get(), &one, operands.right.data, a_.get(), operands.left.data,
                         b_.get(), &beta_, addend_or_result(operands), c_.get(), operands.result.data,
                         c_.get(), &found_.results[candidate].algo, workspace, kGemmWorkspace, stream),
          "cublasLtMatmul");
}

float GemmPlan::time(int candidate, const GemmOperands& operands, void* workspace,
                     cudaStream_t stream) const {
    constexpr int kRepeats = 3;
    const Event begin = make_event(true), end = make_event(true);
    run(candidate, operands, workspace, stream);
    check(cudaEventRecord(begin.get(), stream), "cudaEventRecord");
    for (int i = 0; i < kRepeats; ++i) run(candidate, operands, workspace, stream);
    check(cudaEventRecord(end.get(), stream), "cudaEventRecord");
    check(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    return milliseconds;
}

void GemmPlan::tune(const GemmOperands& operands, void* workspace, cudaStream_t stream) {
    std::array<float, kMost> best;
    best.fill(std::numeric_limits<float>::max());
    for (int round = 0; round < 2; ++round)
        for (int candidate = 0; candidate < count_; ++candidate) {
            float& least = best[static_cast<std::size_t>(candidate)];
            least = std::min(least, time(candidate, operands, workspace, stream));
        }
    chosen_ = static_cast<int>(std::min_element(best.begin(), best.begin() + count_) - best.begin());
}

void run_plain(const Gemm& gemm, const GemmOperands& operands, cudaStream_t stream) {
    PlainGemm plain{.m = gemm.m, .n = gemm.n, .k = gemm.k};
    plain.a = operands.left;
    plain.b = operands.right;
    plain.c = operands.result;
    plain.bias = operands.bias;
    plain.addend = operands.addend;
    plain.accumulate = gemm.accumulate;
    plain.a_strides = gemm.layout == GemmLayout::weight_gradient ? Strides{1, gemm.m} : Strides{gemm.k, 1};
    plain.b_strides = gemm.layout == GemmLayout::forward ? Strides{1, gemm.k} : Strides{gemm.n, 1};
    plain_gemm(plain, stream);
}

}  // namespace wirewise::cuda
