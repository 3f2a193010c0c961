// Measured collectives: what a profile knows about the very wires at hand.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/collectives/curve.hpp"
#include "model/units/collective.hpp"

namespace wirewise {

// The wires a sample was taken on: the GPU's kind, the transport of the slowest hop, and for p2p the path
// ("NV18").
struct WireName {
    std::string gpu, transport, path;
    int ranks = 0;
    bool in_switch = false;  // reductions inside the NVSwitch were in use (NVLS)
    auto operator<=>(const WireName&) const = default;
};

struct MeasuredCurve {
    WireName wire;
    CollectiveKind kind{};
    std::vector<std::pair<Bytes, Seconds>> samples;
};

class CollectiveSamples {
  public:
    // Takes the place of what was known of the same collective on the same wires.
    void add(MeasuredCurve curve);

    const CollectiveCurve* find(const WireName& wire, CollectiveKind kind) const;
    bool empty() const { return curves_.empty(); }

  private:
    std::map<std::pair<WireName, CollectiveKind>, CollectiveCurve> curves_;
};

// The `wires` of a profile (calibration/profiles/*.json), given as its text; none where it has none. Throws
// InputError naming file (`place`) and JSON pointer.
std::vector<MeasuredCurve> measured_curves(std::string_view profile_text, const std::string& place);
void add_collective_samples(CollectiveSamples& samples, std::string_view profile_text,
                            const std::string& place);

}  // namespace wirewise
