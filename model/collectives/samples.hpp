// Measured collectives: what a profile knows about the very wires at hand. Read between the sizes that were
// measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/units/collective.hpp"

namespace wirewise {

// Time over size for one collective, one number of ranks, one wire: the lower envelope of the samples (a
// smaller buffer never takes longer than a larger one: noise only adds).
class CollectiveCurve {
  public:
    struct Point {
        double bytes, seconds;
        auto operator<=>(const Point&) const = default;
    };
    // The two samples around a size; beyond the last, the last two; below the first, the first twice.
    struct Segment {
        Point below, above;
    };

    explicit CollectiveCurve(std::vector<std::pair<Bytes, Seconds>> samples);
    Segment around(double bytes) const;

  private:
    std::vector<Point> points_;
};

// Between two samples: straight in bytes, never in logarithms (errors of 31 % instead of 4 were seen on two
// H200).
double straight(const CollectiveCurve::Segment& segment, double bytes);
// The same with the shape that a formula has between them: `below`, `at` and `above` are its times.
double shaped(const CollectiveCurve::Segment& segment, double below, double at, double above);

// The wires a sample was taken on: the GPU's kind, the transport of the slowest hop, and for p2p the path
// ("NV18").
struct WireName {
    std::string gpu, transport, path;
    int ranks = 0;
    bool in_switch = false;  // reductions inside the NVSwitch were in use (NVLS)
    auto operator<=>(const WireName&) const = default;
};

class CollectiveSamples {
  public:
    void add(const WireName& wire, CollectiveKind kind, std::vector<std::pair<Bytes, Seconds>> samples);

    const CollectiveCurve* find(const WireName& wire, CollectiveKind kind) const;
    bool empty() const { return curves_.empty(); }

  private:
    std::map<std::pair<WireName, CollectiveKind>, CollectiveCurve> curves_;
};

// calibration/profiles/collectives_*.json. Throws InputError naming file and JSON pointer.
CollectiveSamples load_collective_samples(const std::string& file);
// Adds the curves of such a file's text; `place` names it in messages.
void add_collective_samples(CollectiveSamples& samples, std::string_view text, const std::string& place);

}  // namespace wirewise
