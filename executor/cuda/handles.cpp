#include "executor/cuda/handles.hpp"

namespace wirewise::cuda {

Stream make_stream(bool urgent) {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least),
          "cudaStreamCreateWithPriority");
    return Stream(stream);
}

Event make_event(bool timed) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
    return Event(event);
}

DeviceMemory::DeviceMemory(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    void* block = nullptr;
    check(cudaMalloc(&block, bytes), "cudaMalloc");
    block_ = DeviceBlock(block);
}

PinnedMemory::PinnedMemory(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    void* block = nullptr;
    check(cudaHostAlloc(&block, bytes, cudaHostAllocDefault), "cudaHostAlloc");
    block_ = PinnedBlock(block);
}

}  // namespace wirewise::cuda
