// Random numbers by index: no state, so that any rank can draw any element.
#pragma once

#include <bit>
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

// Up with the probability of what truncation to bf16 would drop: random bits below the mantissa, then
// truncation. The mean of many small updates is kept, which rounding to nearest would lose.
constexpr float rounded_at_random(float value, std::uint64_t bits) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7F800000) == 0x7F800000) return value;  // infinite or no number
    return std::bit_cast<float>((word + static_cast<std::uint32_t>(bits & 0xFFFF)) & 0xFFFF0000);
}

// The random bits with which one update rounds: `first` is the place of its first element in the unit's
// parameters, so that every rank that holds an element rounds it alike.
struct RandomRounding {
    bool on = false;
    std::uint64_t stream = 0, first = 0;
    constexpr std::uint64_t bits(std::int64_t index) const {
        return random_bits(stream, first + static_cast<std::uint64_t>(index));
    }
};

}  // namespace wirewise
