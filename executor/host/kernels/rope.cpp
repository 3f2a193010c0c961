#include "executor/host/kernels/rope.hpp"

#include <cmath>

namespace wirewise::host {

// Angles are fp32 products of position and frequency, as the reference takes them.
RopeTable rope_table(const std::vector<float>& frequencies, std::int64_t positions) {
    RopeTable table{.pairs = static_cast<std::int64_t>(frequencies.size())};
    for (std::int64_t position = 0; position < positions; ++position)
        for (const float frequency : frequencies) {
            const float angle = static_cast<float>(position) * frequency;
            table.cosine.push_back(std::cos(angle));
            table.sine.push_back(std::sin(angle));
        }
    return table;
}

void rope(const RopeShape& shape, const RopeTable& table, bool backward, float* values) {
    const float direction = backward ? -1.0F : 1.0F;
    for (std::int64_t r = 0; r < shape.rows; ++r) {
        const std::int64_t position = r % shape.sequence;
        const float* const cosine = table.cosine.data() + position * table.pairs;
        const float* const sine = table.sine.data() + position * table.pairs;
        for (std::int64_t h = 0; h < shape.heads; ++h) {
            float* const low = values + r * shape.stride + h * shape.head_dim;
            float* const high = low + table.pairs;
            for (std::int64_t i = 0; i < table.pairs; ++i) {
                const float a = low[i], b = high[i], s = direction * sine[i];
                low[i] = a * cosine[i] - b * s;
                high[i] = b * cosine[i] + a * s;
            }
        }
    }
}

}  // namespace wirewise::host
