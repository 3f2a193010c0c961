#include "model/collectives/curve.hpp"

#include <algorithm>
#include <cmath>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

// Up to here a collective takes what the host's launch and the hops take, whatever its size.
constexpr double kLaunchBytes = 65536;
// Samples up to half above the floor may be the floor with noise on it.
constexpr double kClearOfFloor = 1.5;
// The wires' own latency hides under the floor: half of it is taken, as firmly as a sample that is 30 times
// less certain than the measured ones.
constexpr double kLatencyOfFloor = 0.5, kLatencyWeight = 0.001;

// 1 - exp(-bytes / scale): how much of a thing that takes about `scale` bytes has happened.
double share(double bytes, double scale) { return scale > 0 ? -std::expm1(-bytes / scale) : 0; }

}  // namespace

CollectiveCurve::CollectiveCurve(std::vector<std::pair<Bytes, Seconds>> samples, CurveShape shape)
    : shape_(shape) {
    ensure(!samples.empty(), "a curve has samples");
    std::sort(samples.begin(), samples.end());
    for (const auto& [bytes, seconds] : samples)
        points_.push_back({static_cast<double>(bytes.count()), seconds.value()});
    fit_floor();
    fit_line();
}

// The lower median of the small samples: noise only adds. A sweep without small ones has no floor to show.
void CollectiveCurve::fit_floor() {
    std::vector<double> small;
    for (const Point& point : points_)
        if (point.bytes <= kLaunchBytes) small.push_back(point.seconds);
    if (small.empty()) return;
    const auto middle = small.begin() + static_cast<std::ptrdiff_t>((small.size() - 1) / 2);
    std::nth_element(small.begin(), middle, small.end());
    floor_ = *middle;
    std::erase_if(points_, [&](const Point& point) {
        return point.bytes <= kLaunchBytes || point.seconds <= kClearOfFloor * floor_;
    });
}

// Least squares of the relative errors in latency and seconds per byte.
void CollectiveCurve::fit_line() {
    if (points_.empty()) return;
    const double guess = kLatencyOfFloor * floor_;
    double ones = 0, sizes = 0, squares = 0, times = 0, products = 0;
    for (const Point& point : points_) {
        const double weight = 1 / (point.seconds * point.seconds), x = staged(point.bytes);
        const double y = point.seconds - ramp(point.bytes);
        ones += weight, sizes += weight * x, squares += weight * x * x;
        times += weight * y, products += weight * x * y;
    }
    if (guess > 0) ones += kLatencyWeight / (guess * guess), times += kLatencyWeight / guess;
    const double determinant = ones * squares - sizes * sizes;
    if (determinant > 1e-9 * ones * squares) {
        latency_ = (times * squares - products * sizes) / determinant;
        seconds_per_byte_ = (ones * products - sizes * times) / determinant;
    }
    if (latency_ < 0 || seconds_per_byte_ <= 0) {
        latency_ = 0;
        seconds_per_byte_ = std::max(0.0, products / squares);
    }
}

double CollectiveCurve::staged(double bytes) const {
    return bytes + shape_.stage * share(bytes, shape_.stage);
}

double CollectiveCurve::ramp(double bytes) const { return shape_.ramp * share(bytes, shape_.ramp_bytes); }

double CollectiveCurve::on_wires(double bytes) const {
    return latency_ + staged(bytes) * seconds_per_byte_ + ramp(bytes);
}

double CollectiveCurve::fitted(double bytes) const { return std::max(floor_, on_wires(bytes)); }

// What the samples are off from the curve, straight in the logarithm of the size; never beyond the samples.
double CollectiveCurve::between(const Point& below, const Point& above, double bytes) const {
    const double at = std::log(bytes / below.bytes) / std::log(above.bytes / below.bytes);
    const double off_below = std::log(below.seconds / fitted(below.bytes));
    const double off_above = std::log(above.seconds / fitted(above.bytes));
    const double seconds = fitted(bytes) * std::exp((1 - at) * off_below + at * off_above);
    return std::clamp(seconds, std::min(below.seconds, above.seconds),
                      std::max(below.seconds, above.seconds));
}

double CollectiveCurve::seconds(double bytes) const {
    if (points_.empty()) return floor_;
    if (bytes < points_.front().bytes) return std::min(fitted(bytes), points_.front().seconds);
    if (bytes >= points_.back().bytes)
        return fitted(bytes) * points_.back().seconds / fitted(points_.back().bytes);
    const auto above = std::lower_bound(points_.begin(), points_.end(), bytes,
                                        [](const Point& point, double size) { return point.bytes < size; });
    if (above->bytes == bytes) return above->seconds;
    return between(*std::prev(above), *above, bytes);
}

}  // namespace wirewise
