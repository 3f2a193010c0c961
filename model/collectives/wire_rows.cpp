#include "model/collectives/wire_rows.hpp"

#include <limits>

namespace wirewise {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr double kUnit = 1e9;  // amounts are in GB/s, so that prices are near 1

}  // namespace

WireRows::WireRows(const GroupWires& wires, HopType farthest)
    : ranks_(wires.ranks()), parts_(static_cast<std::size_t>(ranks_ * ranks_)) {
    std::vector<std::size_t> row_of(wires.wires().size(), kNone);
    for (int from = 0; from < ranks_; ++from)
        for (int to = 0; to < ranks_; ++to)
            for (const Hop& hop : wires.ways(from, to)) {
                if (from == to || hop.type > farthest || hop.uses.empty()) continue;
                Parts parts;
                for (const LinkUse& use : hop.uses) {
                    const auto wire = static_cast<std::size_t>(use.link);
                    const double rate = wires.wires()[wire].wire;
                    if (rate <= 0 || use.wire_cost <= 0) continue;  // not known: does not limit
                    if (row_of[wire] == kNone) row_of[wire] = rows_++;
                    parts.emplace_back(row_of[wire], use.wire_cost * kUnit / rate);
                }
                parts_[static_cast<std::size_t>(from * ranks_ + to)].push_back(std::move(parts));
            }
}

CheapestWay WireRows::cheapest(int from, int to, const std::vector<double>& prices) const {
    CheapestWay best{-1, std::numeric_limits<double>::infinity()};
    int way = 0;
    for (const Parts& parts : ways(from, to)) {
        double cost = 0;
        for (const auto& [row, share] : parts) cost += share * prices[row];
        if (cost < best.cost) best = {way, cost};
        ++way;
    }
    return best;
}

std::vector<double> WireRows::cheapest_of_pairs(const std::vector<double>& prices) const {
    std::vector<double> costs(parts_.size());
    for (int from = 0; from < ranks_; ++from)
        for (int to = 0; to < ranks_; ++to)
            costs[static_cast<std::size_t>(from * ranks_ + to)] = cheapest(from, to, prices).cost;
    return costs;
}

void WireRows::put(Column& column, int from, int to, int way, double bytes) const {
    for (const auto& [row, share] : ways(from, to)[static_cast<std::size_t>(way)])
        column[row] += share * bytes;
}

}  // namespace wirewise
