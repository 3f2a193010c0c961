// Rotary position embedding as Hugging Face pairs dimensions: i with i + rotary_dim / 2.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace wirewise::host {

struct RopeTable {
    std::int64_t pairs = 0;
    std::vector<float> cosine, sine;  // [positions, pairs]
};
RopeTable rope_table(const std::vector<float>& frequencies, std::int64_t positions);

struct RopeShape {
    std::int64_t rows = 0, stride = 0;  // q | k stand in the first columns of each row
    std::int64_t heads = 0;             // of q and k together
    std::int64_t head_dim = 0, sequence = 0;
};

// In place; `backward` turns the other way.
void rope(const RopeShape& shape, const RopeTable& table, bool backward, float* values);

}  // namespace wirewise::host
