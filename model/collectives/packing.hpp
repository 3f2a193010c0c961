// How much of several patterns of traffic the wires carry at once, at most.
#pragma once

#include <functional>
#include <vector>

namespace wirewise {

// One unit of a pattern (a ring, a chain, ...): the part of each wire that it takes.
using Column = std::vector<double>;

// The pattern cheapest at these prices of the wires, if it costs less than the limit; else an empty column.
using CheapestPattern = std::function<Column(const std::vector<double>& prices, double limit)>;

// The amounts of patterns that together are the most, every wire at most full: a linear program solved by
// column generation (simplex; Dantzig and Wolfe 1960). One amount per column given, in their order.
// Where `cheapest` is exact, so is the answer: no wire made wider lowers the sum, no other numbering of wires
// changes it.
std::vector<double> pack(std::size_t wires, const CheapestPattern& cheapest);

}  // namespace wirewise
