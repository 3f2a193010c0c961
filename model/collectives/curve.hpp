// Time over size of one measured collective: a curve with a known shape, fitted to the samples, that goes
// through them where the wires decide.
#pragma once

#include <utility>
#include <vector>

#include "model/units/quantity.hpp"

namespace wirewise {

// What is known of a transport before anything is measured on it.
struct CurveShape {
    double stage = 0;  // bytes that fill a staging buffer before the next hop starts
    double ramp = 0,
           ramp_bytes = 1;  // seconds lost while the links warm up: ramp x (1 - exp(-S / ramp_bytes))
};

// t(S) = max(floor, latency + (S + stage (1 - exp(-S / stage))) x seconds_per_byte + ramp), times what
// the samples around S are off from it. Leave-one-size-out errors on two H200: tests/collectives.
class CollectiveCurve {
  public:
    CollectiveCurve(std::vector<std::pair<Bytes, Seconds>> samples, CurveShape shape);
    double seconds(double bytes) const;

  private:
    struct Point {
        double bytes, seconds;
    };

    void fit_floor();
    void fit_line();
    double staged(double bytes) const;
    double ramp(double bytes) const;
    double on_wires(double bytes) const;
    double fitted(double bytes) const;
    double between(const Point& below, const Point& above, double bytes) const;

    CurveShape shape_;
    std::vector<Point> points_;  // by size; after fit_floor() only those that the wires decide
    double floor_ = 0, latency_ = 0, seconds_per_byte_ = 0;
};

}  // namespace wirewise
