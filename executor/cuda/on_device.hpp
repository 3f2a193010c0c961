#pragma once

#include "executor/cuda/check.hpp"
#include "executor/training/run_error.hpp"

namespace wirewise::cuda {

// Makes the device current; what a call reports is that rank's failure.
template <class Job>
auto on_device(int rank, int device, Job&& job) -> decltype(job()) {
    try {
        check(cudaSetDevice(device), "cudaSetDevice");
        return job();
    } catch (const CallFailed& failure) {
        throw RunError(rank, failure.what());
    }
}

}  // namespace wirewise::cuda
