#include "executor/cuda/check.hpp"

namespace wirewise::cuda {

void check(cudaError_t code, const char* call) {
    if (code == cudaSuccess) return;
    throw CallFailed(call, std::string(cudaGetErrorName(code)) + " (" + cudaGetErrorString(code) + ")");
}

void check(cublasStatus_t code, const char* call) {
    if (code != CUBLAS_STATUS_SUCCESS) throw CallFailed(call, cublasLtGetStatusName(code));
}

void check(cudnnStatus_t code, const char* call) {
    if (code == CUDNN_STATUS_SUCCESS) return;
    char text[512] = "";
    cudnnGetLastErrorString(text, sizeof text);
    throw CallFailed(call, std::string(cudnnGetErrorString(code)) + " " + text);
}

void check(ncclResult_t code, const char* call) {
    if (code == ncclSuccess || code == ncclInProgress) return;
    throw CallFailed(call, std::string(ncclGetErrorString(code)) + " (" + ncclGetLastError(nullptr) + ")");
}

}  // namespace wirewise::cuda
