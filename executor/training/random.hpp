// Random numbers by index: no state, so that any rank can draw any element.
#pragma once

#include <cstdint>

namespace wirewise {

// SplitMix64's finaliser (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}
constexpr std::uint64_t random_bits(std::uint64_t stream, std::uint64_t index) {
    return mixed(mixed(stream) ^ index);
}
// In (0, 1].
constexpr double unit_interval(std::uint64_t bits) { return static_cast<double>((bits >> 11) + 1) * 0x1p-53; }

}  // namespace wirewise
