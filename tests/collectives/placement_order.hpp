// Pairs of published runs of one box that differ in nothing but the GPUs they use.
#pragma once

#include <string>
#include <vector>

#include "tests/collectives/error_table.hpp"

namespace wirewise::test {

struct OrderedPairs {
    int right = 0;
    std::vector<std::string> wrong;  // for people
};

// Counts pairs whose measured bus bandwidth differs by more than `least`. Where all GPUs hang alike from one
// NVSwitch there is nothing to place: `flat` picks those pairs or the others.
OrderedPairs order_of_placements(const std::vector<Judged>& judged, double least, bool flat);

}  // namespace wirewise::test
