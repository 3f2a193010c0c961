// Owners of CUDA's things, one each.
#pragma once

#include <cstddef>
#include <utility>

#include "executor/cuda/check.hpp"

namespace wirewise::cuda {

// A handle and the call that ends it. Destroying what a failed device left behind may fail too: nothing to
// add.
template <class Handle, auto Destroy>
class Owned {
  public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    ~Owned() { reset(); }
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Handle get() const { return handle_; }
    explicit operator bool() const { return handle_ != Handle{}; }
    void reset() {
        if (handle_ != Handle{}) static_cast<void>(Destroy(std::exchange(handle_, Handle{})));
    }

  private:
    Handle handle_{};
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using DeviceBlock = Owned<void*, cudaFree>;
using PinnedBlock = Owned<void*, cudaFreeHost>;

// Never waits for the legacy default stream. `urgent`: ahead of other streams' kernels that have not started.
Stream make_stream(bool urgent);
// `timed` events cost a time stamp on the device.
Event make_event(bool timed);

// Device memory of a fixed size; zero bytes are nothing.
class DeviceMemory {
  public:
    DeviceMemory() = default;
    explicit DeviceMemory(std::size_t bytes);
    std::byte* data() const { return static_cast<std::byte*>(block_.get()); }
    std::size_t size() const { return size_; }

  private:
    DeviceBlock block_;
    std::size_t size_ = 0;
};

// Host memory that copy engines reach.
class PinnedMemory {
  public:
    PinnedMemory() = default;
    explicit PinnedMemory(std::size_t bytes);
    std::byte* data() const { return static_cast<std::byte*>(block_.get()); }
    std::size_t size() const { return size_; }

  private:
    PinnedBlock block_;
    std::size_t size_ = 0;
};

}  // namespace wirewise::cuda
