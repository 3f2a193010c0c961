// The cheapest way through all ranks.
#pragma once

#include <limits>
#include <vector>

namespace wirewise {

enum class Tour { ring, chain };

// Ranks in order, beginning with rank 0, so that the hops between neighbours (a ring's closing hop too) cost
// least. `cost[from * ranks + to]`: not negative; infinite where no hop leads. Exact up to nine ranks; beyond,
// the best of the most promising beginnings (beam search): few of them first, many more where those find
// nothing below `limit`. Empty where nothing below it was found.
std::vector<int> cheapest_tour(const std::vector<double>& cost, int ranks, Tour tour,
                               double limit = std::numeric_limits<double>::infinity());

}  // namespace wirewise
