// One check for the return codes of all libraries: what failed, with which code. The executor adds the rank.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include <stdexcept>
#include <string>

namespace wirewise::cuda {

class CallFailed : public std::runtime_error {
  public:
    CallFailed(const std::string& call, const std::string& code)
        : std::runtime_error(call + ": " + code), call_(call), code_(code) {}
    const std::string& call() const { return call_; }
    const std::string& code() const { return code_; }

  private:
    std::string call_, code_;
};

void check(cudaError_t code, const char* call);
void check(cublasStatus_t code, const char* call);
void check(cudnnStatus_t code, const char* call);
void check(ncclResult_t code, const char* call);

}  // namespace wirewise::cuda
