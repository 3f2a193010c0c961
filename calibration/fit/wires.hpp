// Measured collectives as the `wires` of a profile: curves of time over size, each for the wires that it was
// taken on.
#pragma once

#include <string>
#include <vector>

#include "model/collectives/samples.hpp"
#include "model/topology/json_view.hpp"

namespace wirewise {

struct WireSample {
    std::string id;
    WireName wire;
    CollectiveKind kind{};
    Bytes bytes;
    Seconds seconds;
    Seconds before;  // as predicted without the sample
};

// The samples as curves of their own.
std::vector<MeasuredCurve> measured_wires(const std::vector<WireSample>& samples);

struct WireError {
    std::string id, kind;  // "all_reduce over p2p NV18"
    double seconds = 0;
    double before = 0, fitted = 0, unseen = 0;  // unseen: by the curve without any sample of that size
};

struct WireFit {
    Json wires;
    std::vector<WireError> errors;  // one per sample
};

// Samples take the place of what the profile has of the same size; sizes that they lack stay. Of several
// samples of one size the median counts.
WireFit fit_wires(const Json& profile, const std::string& place, const std::vector<WireSample>& samples,
                  const std::string& source, const std::string& date);

}  // namespace wirewise
