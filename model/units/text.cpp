#include "model/units/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace wirewise {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr Unit kBytes[] = {{"B", 1},          {"kB", 1e3},        {"KB", 1e3},        {"MB", 1e6},
                           {"GB", 1e9},       {"TB", 1e12},       {"PB", 1e15},       {"KiB", 1024.0},
                           {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
constexpr Unit kBandwidth[] = {{"B/s", 1},       {"kB/s", 1e3},     {"MB/s", 1e6},    {"GB/s", 1e9},
                               {"TB/s", 1e12},   {"KiB/s", 1024.0}, {"MiB/s", 1048576.0},
                               {"GiB/s", 1073741824.0}, {"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8},
                               {"Tb/s", 1e12 / 8}};
constexpr Unit kSeconds[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"min", 60}, {"h", 3600}};
constexpr Unit kFlops[] = {{"FLOP/s", 1},      {"GFLOP/s", 1e9},  {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                           {"GFLOPS", 1e9},    {"TFLOPS", 1e12},  {"PFLOPS", 1e15}};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string names_of(std::span<const Unit> units) {
    std::string all;
    for (const Unit& unit : units) all += (all.empty() ? "" : ", ") + std::string(unit.name);
    return all;
}

// Splits "80 GiB" into a number and the factor of its unit. Negative, missing or infinite numbers are refused.
std::pair<double, double> parse(std::string_view text, std::span<const Unit> units, std::string_view example,
                                std::string_view place) {
    const std::string_view clean = trimmed(text);
    double number = 0;
    const auto [end, error] = std::from_chars(clean.data(), clean.data() + clean.size(), number);
    const auto refuse = [&](std::string problem) {
        return InputError(std::string(place), std::move(problem), fmt::format("write for example \"{}\"", example));
    };
    if (error != std::errc{} || !std::isfinite(number))
        throw refuse(fmt::format("\"{}\" does not start with a number", text));
    if (number < 0) throw refuse(fmt::format("\"{}\" is negative", text));
    const std::string_view unit = trimmed(clean.substr(static_cast<std::size_t>(end - clean.data())));
    if (unit.empty()) throw refuse(fmt::format("\"{}\" has no unit", text));
    for (const Unit& known : units)
        if (known.name == unit) return {number, known.factor};
    throw refuse(fmt::format("unknown unit \"{}\" (known: {})", unit, names_of(units)));
}

double parse_real(std::string_view text, std::span<const Unit> units, std::string_view example,
                  std::string_view place) {
    const auto [number, factor] = parse(text, units, example, place);
    return number * factor;
}

// The largest of `units` (listed in rising order) that keeps the number at or above one.
std::string scaled(double value, std::span<const Unit> units) {
    const Unit* best = &units.front();
    for (const Unit& unit : units)
        if (std::abs(value) >= unit.factor * 0.9995) best = &unit;
    const double number = value / best->factor;
    const int digits = std::abs(number) < 9.995 ? 2 : std::abs(number) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", number, value == 0 ? 0 : digits, best->name);
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view place) {
    const auto [number, factor] = parse(text, kBytes, "80 GiB", place);
    const double bytes = number * factor;
    if (bytes >= 9.2e18) throw InputError(std::string(place), fmt::format("\"{}\" is beyond 2^63 bytes", text));
    return Bytes(static_cast<std::int64_t>(std::llround(bytes)));
}
BytesPerSecond parse_bandwidth(std::string_view text, std::string_view place) {
    return BytesPerSecond(parse_real(text, kBandwidth, "450 GB/s", place));
}
Seconds parse_seconds(std::string_view text, std::string_view place) {
    return Seconds(parse_real(text, kSeconds, "3 us", place));
}
FlopsPerSecond parse_flops_per_second(std::string_view text, std::string_view place) {
    return FlopsPerSecond(parse_real(text, kFlops, "989 TFLOP/s", place));
}

std::string to_text(Bytes amount) {
    constexpr std::array<Unit, 5> units{{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}};
    if (std::abs(amount.count()) < 1000) return fmt::format("{} B", amount.count());
    return scaled(static_cast<double>(amount.count()), units);
}
std::string to_text(BytesPerSecond rate) {
    constexpr std::array<Unit, 5> units{{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}};
    return scaled(rate.value(), units);
}
std::string to_text(Seconds time) {
    constexpr std::array<Unit, 4> units{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
    if (time.value() >= 7200) return fmt::format("{:.1f} h", time.value() / 3600);
    if (time.value() >= 120) return fmt::format("{:.1f} min", time.value() / 60);
    return scaled(time.value(), units);
}
std::string to_text(FlopsPerSecond rate) {
    constexpr std::array<Unit, 2> units{{{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}}};  // data sheets say 1979 TFLOP/s
    return scaled(rate.value(), units);
}

std::string exact_text(Bytes amount) { return fmt::format("{} B", amount.count()); }
std::string exact_text(BytesPerSecond rate) { return fmt::format("{} B/s", rate.value()); }
std::string exact_text(Seconds time) { return fmt::format("{} s", time.value()); }
std::string exact_text(FlopsPerSecond rate) { return fmt::format("{} FLOP/s", rate.value()); }

std::string with_commas(std::int64_t number) {
    std::string digits = fmt::format("{}", number);
    const int stop = number < 0 ? 1 : 0;
    for (int at = static_cast<int>(digits.size()) - 3; at > stop; at -= 3)
        digits.insert(static_cast<std::size_t>(at), 1, ',');
    return digits;
}

}  // namespace wirewise
