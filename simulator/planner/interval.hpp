// How far a prediction may be off: 90 % intervals around memory and time from the residuals that the profile
// knows, wider where the plan lies outside of what was measured; and the chance of running out of memory.
#pragma once

#include <string>
#include <vector>

#include "simulator/planner/estimate.hpp"

namespace wirewise {

constexpr double kIntervalLevel = 0.9;

template <class Quantity>
struct Interval {
    Quantity lo, hi;
};

// One of the peaks that a plan may have, where a race in the runtime decides.
struct Outcome {
    Bytes allocated, reserved, used;
    Interval<Bytes> interval;  // of `used`
    Bytes least;               // of `used`, what a full device leaves (see Estimate::spare)
    Interval<Bytes> least_interval;
    double probability = 1;
};

struct Intervals {
    Interval<Bytes> memory;  // of device use: around every outcome, for a run must survive each
    Interval<Bytes> allocated, reserved;
    Interval<Bytes> least;  // of device use, nothing cached: what decides whether memory runs out
    Interval<Seconds> step;
    std::vector<Outcome> outcomes;           // the expected one first
    std::string memory_origin, step_origin;  // why they are this wide
};

Intervals intervals_of(const Estimate& estimate, const ParallelPlan& plan, const Site& site);
// Memory alone, where the step was not timed.
Intervals memory_intervals_of(const Estimate& estimate, const ParallelPlan& plan, const Site& site);

// Chance that device use exceeds the limit, for a normal error whose 90 % interval is the given one; where
// the interval is lopsided, the arm on the limit's side gives the width.
double chance_above(Bytes limit, Bytes expected, const Interval<Bytes>& interval);
// Over all outcomes, nothing cached.
double chance_above(Bytes limit, const Intervals& intervals);

}  // namespace wirewise
