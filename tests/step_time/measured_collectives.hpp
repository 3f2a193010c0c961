// Collective times as measured, instead of the pricer's: so that a step's error is the simulator's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulator/simulate.hpp"

namespace wirewise {

class MeasuredCollectives {
  public:
    // `file`: JSON lines of kind "collective"; `wire`: their label.
    MeasuredCollectives(const std::string& file, const std::string& wire);

    CollectivePrice operator()(Axis axis, CollectiveKind kind, Bytes bytes) const;

  private:
    struct Sample {
        double bytes, microseconds;
    };
    std::string wire_;
    std::map<CollectiveKind, std::vector<Sample>> samples_;
};

}  // namespace wirewise
