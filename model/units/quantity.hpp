// Physical quantities as types: bytes plus seconds does not compile, bytes over bandwidth is time.
// Bytes is a checked 64-bit integer; rates, times and flops are doubles in SI units.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "model/units/error.hpp"

namespace wirewise {

// A checked integer quantity: overflow throws OverflowError, never wraps.
template <class Tag>
class CheckedInteger {
  public:
    constexpr CheckedInteger() = default;
    constexpr explicit CheckedInteger(std::int64_t count) : count_(count) {}

    constexpr std::int64_t count() const { return count_; }
    constexpr auto operator<=>(const CheckedInteger&) const = default;

    constexpr CheckedInteger& operator+=(CheckedInteger other) {
        if (__builtin_add_overflow(count_, other.count_, &count_)) throw OverflowError("sum out of range");
        return *this;
    }
    constexpr CheckedInteger& operator-=(CheckedInteger other) {
        if (__builtin_sub_overflow(count_, other.count_, &count_))
            throw OverflowError("difference out of range");
        return *this;
    }
    constexpr CheckedInteger& operator*=(std::int64_t factor) {
        if (__builtin_mul_overflow(count_, factor, &count_)) throw OverflowError("product out of range");
        return *this;
    }
    friend constexpr CheckedInteger operator+(CheckedInteger a, CheckedInteger b) { return a += b; }
    friend constexpr CheckedInteger operator-(CheckedInteger a, CheckedInteger b) { return a -= b; }
    friend constexpr CheckedInteger operator*(CheckedInteger a, std::int64_t f) { return a *= f; }
    friend constexpr CheckedInteger operator*(std::int64_t f, CheckedInteger a) { return a *= f; }
    friend constexpr CheckedInteger operator/(CheckedInteger a, std::int64_t d) {
        return CheckedInteger(a.count_ / d);
    }
    friend constexpr double operator/(CheckedInteger a, CheckedInteger b) {
        return static_cast<double>(a.count_) / static_cast<double>(b.count_);
    }

  private:
    std::int64_t count_ = 0;
};

// A real quantity in its SI unit.
template <class Tag>
class Real {
  public:
    constexpr Real() = default;
    constexpr explicit Real(double value) : value_(value) {}

    constexpr double value() const { return value_; }
    constexpr auto operator<=>(const Real&) const = default;

    constexpr Real& operator+=(Real other) { return value_ += other.value_, *this; }
    constexpr Real& operator-=(Real other) { return value_ -= other.value_, *this; }
    friend constexpr Real operator+(Real a, Real b) { return a += b; }
    friend constexpr Real operator-(Real a, Real b) { return a -= b; }
    friend constexpr Real operator*(Real a, double f) { return Real(a.value_ * f); }
    friend constexpr Real operator*(double f, Real a) { return Real(a.value_ * f); }
    friend constexpr Real operator/(Real a, double d) { return Real(a.value_ / d); }
    friend constexpr double operator/(Real a, Real b) { return a.value_ / b.value_; }

  private:
    double value_ = 0;
};

using Bytes = CheckedInteger<struct BytesTag>;
using Seconds = Real<struct SecondsTag>;
using BytesPerSecond = Real<struct BytesPerSecondTag>;
using Flops = Real<struct FlopsTag>;  // a count of floating-point operations, not a rate
using FlopsPerSecond = Real<struct FlopsPerSecondTag>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
    return Seconds(static_cast<double>(amount.count()) / rate.value());
}
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
    return BytesPerSecond(static_cast<double>(amount.count()) / time.value());
}
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) { return Seconds(work.value() / rate.value()); }
constexpr FlopsPerSecond operator/(Flops work, Seconds time) {
    return FlopsPerSecond(work.value() / time.value());
}

// The simulator's clock: integer picoseconds since the start of the step, so that sums are exact and
// runs are bit-for-bit repeatable. 2^63 ps is 106 days.
using Instant = CheckedInteger<struct InstantTag>;

constexpr double kPicosecondsPerSecond = 1e12;

constexpr Instant to_instant(Seconds time) {
    const double picoseconds = time.value() * kPicosecondsPerSecond + 0.5;
    if (!(picoseconds >= 0 && picoseconds < 9.2e18)) throw OverflowError("time out of the clock's range");
    return Instant(static_cast<std::int64_t>(picoseconds));
}
constexpr Seconds to_seconds(Instant at) {
    return Seconds(static_cast<double>(at.count()) / kPicosecondsPerSecond);
}

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)) * 1024; }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)) * 1048576; }
constexpr Bytes operator""_GiB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n)) * 1073741824;
}
constexpr Seconds operator""_us(long double n) { return Seconds(static_cast<double>(n) * 1e-6); }
constexpr Seconds operator""_us(unsigned long long n) { return Seconds(static_cast<double>(n) * 1e-6); }
constexpr BytesPerSecond operator""_GBps(long double n) {
    return BytesPerSecond(static_cast<double>(n) * 1e9);
}
constexpr BytesPerSecond operator""_GBps(unsigned long long n) {
    return BytesPerSecond(static_cast<double>(n) * 1e9);
}
constexpr FlopsPerSecond operator""_TFLOPS(long double n) {
    return FlopsPerSecond(static_cast<double>(n) * 1e12);
}
}  // namespace literals

}  // namespace wirewise
