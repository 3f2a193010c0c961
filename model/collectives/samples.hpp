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
