// How much of several patterns of traffic the wires carry at once, at most.
#pragma once

#include <functional>
#include <vector>

namespace wirewise {

// One unit of a pattern (a ring, a chain, ...): the part of each wire that it takes.
using Column = std::vector<double>;

// A cheap pattern at these prices of the wires, costing less than the limit; empty only where there is none.
using CheapestPattern = std::function<Column(const std::vector<double>& prices, double limit)>;

// The amounts of patterns that together are the most, every wire at most full: a linear program solved by
// column generation (simplex; Dantzig and Wolfe 1960). One amount per column given, in their order.
// Where `cheapest` finds whatever there is, the answer is the optimum to about 1e-8, so that no wire made
// wider lowers the sum and no other numbering of wires changes it; unless 500 patterns do not reach it.
std::vector<double> pack(std::size_t wires, const CheapestPattern& cheapest);

}  // namespace wirewise
