// The wires that the ways of a group take, as rows of a packing: what one byte a second on a way takes of
// each.
#pragma once

#include <utility>
#include <vector>

#include "model/collectives/group_wires.hpp"
#include "model/collectives/packing.hpp"

namespace wirewise {

struct CheapestWay {
    int way = -1;  // -1: none
    double cost = 0;
};

class WireRows {
  public:
    // Ways of path type `farthest` and nearer. Rows are numbered as the pairs of ranks use them, so that
    // neither the numbers of links nor those of GPUs matter.
    WireRows(const GroupWires& wires, HopType farthest);

    std::size_t size() const { return rows_; }
    CheapestWay cheapest(int from, int to, const std::vector<double>& prices) const;
    // By ordered pair of ranks; infinite where no way leads.
    std::vector<double> cheapest_of_pairs(const std::vector<double>& prices) const;
    void put(Column& column, int from, int to, int way, double bytes) const;

  private:
    using Parts = std::vector<std::pair<std::size_t, double>>;  // row, share of its rate per byte
    const std::vector<Parts>& ways(int from, int to) const {
        return parts_[static_cast<std::size_t>(from * ranks_ + to)];
    }

    int ranks_;
    std::size_t rows_ = 0;
    std::vector<std::vector<Parts>> parts_;  // by ordered pair and way
};

}  // namespace wirewise
