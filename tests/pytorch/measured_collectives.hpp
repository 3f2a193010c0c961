// The cost of a collective as it was measured alone on two H200:
// calibration/profiles/h200-sxm.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/simulate.hpp"

namespace wirewise {

class MeasuredCollectives {
  public:
    MeasuredCollectives() = default;
    explicit MeasuredCollectives(const std::string& wire);  // "nvlink", "host_memory", "tcp_socket"
    CollectivePrice operator()(Axis axis, CollectiveKind kind, Bytes bytes) const;

  private:
    struct Sample {
        double bytes, microseconds;
    };
    std::string transport_;
    std::map<CollectiveKind, std::vector<Sample>> samples_;
};

}  // namespace wirewise
