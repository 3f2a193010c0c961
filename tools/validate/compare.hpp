// A measured case beside what `plan` and `collective` predict for the same words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration/cases/case.hpp"

namespace wirewise {

struct Comparison {
    std::string id;
    CaseLabels labels;  // the wire filled in from the prediction where the case does not state it
    MeasuredQuantity quantity{};
    double predicted = 0, measured = 0;
    std::optional<std::pair<double, double>> interval;  // the planner's 90 % interval, where it states one
    std::string profile;      // of the prediction: its name, "data sheet" for all that is not measured
    bool host_bound = false;  // of a training step
    std::vector<std::string> assumed;  // not stated by the source: counted in its own line only
    // Of memory and time: predicted / measured - 1. Of oom: 0 right, 1 wrong.
    double relative_error() const;
    bool inside() const { return interval && measured >= interval->first && measured <= interval->second; }
};

struct ComparedCase {
    std::vector<Comparison> comparisons;
    std::string answer;   // to a user's question; empty: not a user's
    std::string refused;  // the planner's reason for not answering such a plan; empty: it does
};

// `profile` as --profile takes it. Throws InputError naming the case's place when its words are no options.
ComparedCase compare(const MeasuredCase& one, const std::string& profile);

}  // namespace wirewise
