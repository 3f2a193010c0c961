// How far values are from those expected, as one number.
#pragma once

#include <cmath>
#include <vector>

namespace wirewise::test {

// Norm of the difference over the norm of what is expected; infinite where the counts differ.
inline double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
    if (got.size() != expected.size()) return INFINITY;
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        difference += std::pow(static_cast<double>(got[i]) - static_cast<double>(expected[i]), 2);
        norm += std::pow(static_cast<double>(expected[i]), 2);
    }
    return std::sqrt(difference / norm);
}

}  // namespace wirewise::test
