// How far a prediction may be off: a 90 % interval around memory and time, with its origin, and the chance of
// running out of memory that follows from it.
#pragma once

#include <string>

#include "simulator/planner/estimate.hpp"

namespace wirewise {

constexpr double kIntervalLevel = 0.9;

template <class Quantity>
struct Interval {
    Quantity lo, hi;
};

struct Intervals {
    Interval<Bytes> memory;  // of device use, whichever way a race in the runtime goes (Estimate::others)
    Interval<Seconds> step;
    std::string memory_origin, step_origin;  // why they are this wide
};

Intervals intervals_of(const Estimate& estimate, const CostProfile& profile);

// Chance that device use exceeds the limit, for a normal error whose 90 % interval is the given one; where the
// interval is lopsided, the arm on the limit's side gives the width.
double chance_above(Bytes limit, Bytes expected, const Interval<Bytes>& interval);

}  // namespace wirewise
