#include "calibration/cases/generic_shape.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace wirewise {

namespace {

constexpr std::int64_t kHead = 128, kFfnStep = 256;
constexpr double kPerLayer = 12;  // h^2: 4 of attention, 8 of the MLP

double parameters_of(double hidden, double vocabulary) {
    return kPerLayer * hidden * hidden * hidden / kHead + 2 * vocabulary * hidden;
}

// Parameters grow with the width: bisected, then the nearest whole number of heads.
std::int64_t width_for(double parameters, double vocabulary) {
    double low = kHead, high = 1 << 20;
    while (high - low > 1) {
        const double middle = (low + high) / 2;
        (parameters_of(middle, vocabulary) < parameters ? low : high) = middle;
    }
    return std::max<std::int64_t>(1, std::llround(low / kHead)) * kHead;
}

}  // namespace

GenericShape llama_of(double parameters, std::int64_t vocabulary, std::int64_t hidden) {
    GenericShape shape;
    const auto rows = static_cast<double>(vocabulary);
    shape.hidden = hidden > 0 ? hidden : width_for(parameters, rows);
    const auto h = static_cast<double>(shape.hidden);
    shape.layers = std::max<std::int64_t>(1, std::llround((parameters - 2 * rows * h) / (kPerLayer * h * h)));
    shape.heads = std::max<std::int64_t>(1, shape.hidden / kHead);
    shape.ffn = (shape.hidden * 8 / 3 + kFfnStep - 1) / kFfnStep * kFfnStep;
    return shape;
}

double parameters_in(std::string_view name) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (!is_digit(name[i]) || (i > 0 && (is_digit(name[i - 1]) || name[i - 1] == '.'))) continue;
        double billions = 0;
        const auto [end, error] = std::from_chars(name.data() + i, name.data() + name.size(), billions);
        auto at = static_cast<std::size_t>(end - name.data());
        while (at < name.size() && name[at] == ' ') ++at;
        const bool size = at < name.size() && (name[at] == 'B' || name[at] == 'b');
        const bool word =
            size && (at + 1 == name.size() || !std::isalnum(static_cast<unsigned char>(name[at + 1])));
        const bool times = i > 1 && (name[i - 1] == 'x' || name[i - 1] == 'X') && is_digit(name[i - 2]);
        if (error == std::errc() && word) return times ? 0 : billions * 1e9;
    }
    return 0;
}

}  // namespace wirewise
