#include "tests/gpu/device_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "executor/training/convert.hpp"
#include "executor/training/random.hpp"

namespace wirewise::test {

using cuda::check;

namespace {

constexpr std::size_t kGuard = 4096;
constexpr int kPoison = 0xFF;

}  // namespace

std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(2 * unit_interval(random_bits(seed, i)) - 1);
    return values;
}

DeviceValues::DeviceValues(DType type, std::int64_t count)
    : type_(type), count_(count), memory_(static_cast<std::size_t>(count * size_of(type)) + 2 * kGuard) {
    check(cudaMemset(memory_.data(), kPoison, memory_.size()), "cudaMemset");
}

DeviceValues::DeviceValues(DType type, const std::vector<float>& values)
    : DeviceValues(type, static_cast<std::int64_t>(values.size())) {
    set(values);
}

DeviceValues::DeviceValues(const std::vector<std::int32_t>& integers)
    : DeviceValues(DType::int32, static_cast<std::int64_t>(integers.size())) {
    check(cudaMemcpy(data(), integers.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

DeviceValues::~DeviceValues() {
    std::vector<unsigned char> all(memory_.size());
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(all.data(), memory_.data(), all.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    const auto intact = [](unsigned char byte) { return byte == kPoison; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kGuard, intact)) << "written before its beginning";
    EXPECT_TRUE(std::all_of(all.end() - kGuard, all.end(), intact)) << "written beyond its end";
}

void* DeviceValues::data() const { return memory_.data() + kGuard; }

void DeviceValues::set(const std::vector<float>& values) {
    std::vector<std::byte> stored(bytes());
    narrow(values, type_, stored.data());
    check(cudaMemcpy(data(), stored.data(), stored.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

std::vector<float> DeviceValues::values() const {
    std::vector<std::byte> stored(bytes());
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaMemcpy(stored.data(), data(), stored.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<float> values(static_cast<std::size_t>(count_));
    widen(stored.data(), type_, values);
    return values;
}

std::vector<float> rounded(std::vector<float> values, DType type) {
    std::vector<std::byte> stored(values.size() * static_cast<std::size_t>(size_of(type)));
    narrow(values, type, stored.data());
    widen(stored.data(), type, values);
    return values;
}

}  // namespace wirewise::test
