// The cheapest way through all ranks.
#pragma once

#include <limits>
#include <vector>

namespace wirewise {

enum class Tour { ring, chain };

// Ranks in order, beginning with rank 0, so that the hops between neighbours (a ring's closing hop too) cost
// little; the least up to ten ranks. `cost[from * ranks + to]`: not negative; infinite where no hop leads.
// Beyond, a quick search answers where it finds something below `limit`, else a search of all tours up to
// sixteen ranks and a wide one beyond. Empty: nothing below the limit was found.
std::vector<int> cheapest_tour(const std::vector<double>& cost, int ranks, Tour tour,
                               double limit = std::numeric_limits<double>::infinity());

}  // namespace wirewise
