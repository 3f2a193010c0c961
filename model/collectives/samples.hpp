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
// smaller buffer never takes longer than a larger one: noise only adds), straight lines in bytes between
// them, the last slope beyond.
class CollectiveCurve {
  public:
    explicit CollectiveCurve(std::vector<std::pair<Bytes, Seconds>> samples);
    Seconds seconds(Bytes bytes) const;

  private:
    std::vector<std::pair<double, double>> points_;
};

// The wires a sample was taken on: the GPU's kind, the transport of the slowest hop, and for p2p the path
// ("NV18").
struct WireName {
    std::string gpu, transport, path;
    int ranks = 0;
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

}  // namespace wirewise
