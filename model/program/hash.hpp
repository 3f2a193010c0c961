// A 64-bit hash of numbers and texts that is the same on every machine and in every run: fit for plan files.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace wirewise {

class Hash {
  public:
    template <class... Values>
        requires((std::is_integral_v<Values> || std::is_enum_v<Values>) && ...)
    constexpr void add(Values... values) {
        (mix(static_cast<std::uint64_t>(values)), ...);
    }
    constexpr void add(std::string_view text) {
        mix(text.size());
        for (const char c : text) mix(static_cast<unsigned char>(c));
    }
    constexpr std::uint64_t value() const {
        const std::uint64_t folded = (state_ ^ (state_ >> 32)) * kOdd;
        return folded ^ (folded >> 29);
    }

  private:
    static constexpr std::uint64_t kOdd =
        0x9E3779B97F4A7C15;  // 2^64 / golden ratio: Knuth's multiplicative hashing
    constexpr void mix(std::uint64_t word) {
        state_ = (state_ ^ word) * kOdd;
        state_ ^= state_ >> 31;
    }
    std::uint64_t state_ = 0x243F6A8885A308D3;  // pi's fraction: nothing up the sleeve
};

}  // namespace wirewise
