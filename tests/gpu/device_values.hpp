// Values of one dtype on the device, between two guards that nothing may write: what a kernel is tested with.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "executor/cuda/handles.hpp"
#include "executor/cuda/kernels/array.hpp"
#include "tests/relative_error.hpp"

namespace wirewise::test {

// Every test of the GPU starts with it; visible in the report of a machine without one.
#define WIREWISE_NEEDS_GPU()                                                                        \
    do {                                                                                            \
        int count = 0;                                                                              \
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU here"; \
    } while (false)

// Uniform in [-1, 1), a different stream per seed.
std::vector<float> random_values(std::int64_t count, std::uint64_t seed);

class DeviceValues {
  public:
    // Poisoned: bytes of 0xFF, which are NaN in every dtype.
    DeviceValues(DType type, std::int64_t count);
    // These values, rounded to the dtype.
    DeviceValues(DType type, const std::vector<float>& values);
    explicit DeviceValues(const std::vector<std::int32_t>& integers);
    ~DeviceValues();  // fails the test when a guard was written
    DeviceValues(const DeviceValues&) = delete;
    DeviceValues& operator=(const DeviceValues&) = delete;

    cuda::Array array() const { return {data(), type_}; }
    void* data() const;
    float* floats() const { return static_cast<float*>(data()); }
    const std::int32_t* integers() const { return static_cast<const std::int32_t*>(data()); }

    std::int64_t count() const { return count_; }
    // As the device holds them, widened.
    std::vector<float> values() const;
    void set(const std::vector<float>& values);

  private:
    std::size_t bytes() const { return static_cast<std::size_t>(count_ * size_of(type_)); }
    DType type_;
    std::int64_t count_;
    cuda::DeviceMemory memory_;
};

// What the dtype keeps of the values.
std::vector<float> rounded(std::vector<float> values, DType type);


}  // namespace wirewise::test
